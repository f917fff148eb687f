// SPDX-License-Identifier: Apache-2.0

// Package build tells which version of discreet a program is, and which source it was built from.
package build

import (
	_ "embed" // VERSION
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is the one place of the version; make reads it, too, and a test holds the manifests to it.
//
//go:embed VERSION
var version string

// Commit is the source that make names, with " (modified)" if files differed from it; otherwise "". Nothing but make and
// tests sets it.
var Commit string

// Version returns the version of the program, such as 0.1.0: if it was installed by version, that one.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Sum != "" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return strings.TrimSpace(version)
}

// Source returns what the program was built from: a commit, or, if the program was installed by version, the
// checksum by which Go's module proxies know that version. It is "" if the program cannot name it.
func Source() string {
	if Commit != "" {
		return Commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	source := info.Main.Sum
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			source = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			source += " (modified)"
		}
	}
	return source
}

// NamesSource reports whether whoever has the source of this program can find the very same one again.
func NamesSource() bool {
	source := Source()
	return source != "" && !strings.HasSuffix(source, "(modified)")
}

// Describe returns one line about a program: its version, its source, the compiler and the platform.
func Describe(program string) string {
	source := Source()
	if source == "" {
		source = "from an unknown source"
	}
	return fmt.Sprintf("%s %s %s, %s, %s/%s", program, Version(), source, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
