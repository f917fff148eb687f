// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/table/schema"
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
	}, a.newSchemaInitCommand(), a.newSchemaCheckCommand(), a.newSchemaFormCommand())
}

// newSchemaFormCommand returns the command that prints the JSON Schema of schema files.
func (a *app) newSchemaFormCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "json-schema",
		Short: "print the JSON Schema of schema files, for editors",
		Long: `Json-schema prints the form of a schema file as JSON Schema. An editor with a YAML
language server then completes keys, explains them and marks mistakes. Save it
in the folder of your schema, and begin the schema with the line

  # yaml-language-server: $schema=discreet.schema.json`,
		Example: "  discreet schema json-schema > discreet.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Stdout.Write(schema.JSONSchema)
			return err
		},
	}
}
