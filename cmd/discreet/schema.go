// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
)

func (a *app) newSchemaCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "schema",
		Short: "write and check schema files",
		Long: `A schema declares what is known about a table before its rows are read: columns,
bounds, levels, what is protected and how. It is public, and nothing in it is
ever taken from the rows.`,
		Example: `  discreet schema init patients.csv > patients.yaml
  discreet schema check patients.yaml --data patients.csv`,
	}, a.newSchemaInitCommand(), a.newSchemaCheckCommand())
}
