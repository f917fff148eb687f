// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

func (a *App) newVersionCommand(program string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long: `Version prints the program's version, source, compiler and platform. The source
is a commit or, after go install by version, that version's checksum. A program
that was built elsewhere says that its source is unknown.`,
		Example: "  " + program + " version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := plaintext.Fprintf(a.Stdout, "%s\n", build.Describe(program))
			return err
		},
	}
}
