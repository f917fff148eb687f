// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// What packages set are variables of flags that there are, and the files of a site set all that a site
// needs.
func TestPackagesSetWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		file, form string
		root       *cobra.Command
		command    string
	}{
		{"serve.env", `(?m)^#?(DISCREET_\w+)=`, newTestRoot(), "serve"},
		{"site.env", `(?m)^#?(DISCREET_\w+)=`, newNetRoot(&cli.App{}), "site serve"},
		{"site/chart/templates/site.yaml", `name: (DISCREET_\w+),`, newNetRoot(&cli.App{}), "site serve"},
	} {
		text, err := os.ReadFile("../../packaging/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		command, _, err := c.root.Find(strings.Fields(c.command))
		if err != nil {
			t.Fatal(err)
		}
		known, needed := map[string]bool{}, map[string]bool{}
		command.Flags().VisitAll(func(f *pflag.Flag) {
			known[cli.VariableOf(f)] = true
			needed[cli.VariableOf(f)] = f.Annotations[cobra.BashCompOneRequiredFlag] != nil
		})
		found := regexp.MustCompile(c.form).FindAllStringSubmatch(string(text), -1)
		if len(found) < 4 {
			t.Errorf("%s sets %d variables", c.file, len(found))
		}
		for _, m := range found {
			if !known[m[1]] {
				t.Errorf("%s sets %s, and %s has no such flag", c.file, m[1], c.command)
			}
			delete(needed, m[1])
		}
		for name, is := range needed {
			if is {
				t.Errorf("%s does not set %s", c.file, name)
			}
		}
	}
}
