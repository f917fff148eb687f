// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version, set by make release; otherwise "".
var release string

func (a *App) newVersionCommand(program string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long: `Version prints the version of the program, the platform, and, if it is known,
the commit that it was built from.`,
		Example: "  " + program + " version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Stdout, DescribeBuild(program))
			return err
		},
	}
}

// DescribeBuild describes a program by the information that the compiler stored in it.
func DescribeBuild(program string) string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				commit += " (modified)"
			}
		}
	}
	return fmt.Sprintf("%s %s%s, %s, %s/%s", program, BuildVersion(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// BuildVersion returns the version of the program: that of a release, or else the one that the
// compiler stored.
func BuildVersion() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
