// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variablePrefix is the prefix of the environment variables of flags.
const variablePrefix = "DISCREET_"

// onlyTyped are flags that give up a protection or a file. They can be set only on the command line,
// for one run. An environment variable would set them for every run of a shell.
var onlyTyped = []string{"not-private", "force", "exceed-max-epsilon", "plain", "help", "version"}

// VariableOf returns the environment variable that sets a flag, "" if there is none.
func VariableOf(f *pflag.Flag) string {
	if f.Hidden || slices.Contains(onlyTyped, f.Name) {
		return ""
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// setFromEnvironment sets flags of c that are absent from the command line, and reports which. Errors
// never repeat a value, since it may be a secret under a wrong name.
func (a *App) setFromEnvironment(c *cobra.Command) (err error) {
	var taken []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := VariableOf(f)
		if err != nil || f.Changed || name == "" {
			return
		}
		value, given := a.lookupEnv(name)
		if !given {
			return
		}
		if c.Flags().Set(f.Name, value) != nil {
			err = &UsageError{Err: fmt.Errorf("%s: must be a value that --%s takes (another was given)", name, f.Name)}
		}
		taken = append(taken, name)
	})
	if len(taken) > 0 && err == nil {
		a.Say("from the environment: %s", strings.Join(taken, ", "))
	}
	return err
}

// lookupEnv returns the last value of a variable; given is false if it is not set or empty.
func (a *App) lookupEnv(key string) (value string, given bool) {
	value = a.Getenv(key)
	return value, value != ""
}
