// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variablePrefix begins the name of the environment variable of a flag.
const variablePrefix = "DISCREET_"

// onlyTyped are flags that give up a protection or a file. They count on the command line alone,
// which says so for one run; a variable would say so for every run of a shell.
var onlyTyped = []string{"not-private", "force", "exceed-max-epsilon", "plain", "help", "version"}

// VariableOf is the environment variable that sets a flag, "" if none does.
func VariableOf(f *pflag.Flag) string {
	if f.Hidden || slices.Contains(onlyTyped, f.Name) {
		return ""
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// setFromEnvironment sets the flags of c that the command line does not, and reports which. A value
// is never repeated in an error, for it may be a secret under a wrong name.
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

// lookupEnv is the last value of a variable; given is false if it is not set or empty.
func (a *App) lookupEnv(key string) (value string, given bool) {
	value = a.Getenv(key)
	return value, value != ""
}
