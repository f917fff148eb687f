// SPDX-License-Identifier: Apache-2.0

// Package build tells which version of discreet a program was built from.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version, which make release sets; otherwise "".
var release string

// Version returns the version of the program: that of a release, or else the one that the compiler
// stored.
func Version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// Describe returns one line about a program: its version, the source that it was built from, the
// compiler and the platform. The source is the commit; if the program was installed by version, it is
// the checksum by which Go's module proxies know that version.
func Describe(program string) string {
	source := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Sum != "" {
			source = " " + info.Main.Sum
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				source = " " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				source += " (modified)"
			}
		}
	}
	return fmt.Sprintf("%s %s%s, %s, %s/%s", program, Version(), source, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
