// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

const configFlag = "config"

// AddConfig gives c a flag that names a file of its other flags.
func AddConfig(c *cobra.Command) {
	c.Flags().String(configFlag, "", "the YAML `file` of flags that neither the command line nor the environment sets")
	Reads(c, configFlag)
}

// setting is a line of a file of flags.
type setting struct {
	line   int
	flag   *pflag.Flag
	values []string
}

// setFromConfig sets the flags of c that nothing else does, if c has a file of them, and reports which. Of
// what is not understood errors have the line alone: the file may be another one.
func (a *App) setFromConfig(c *cobra.Command) error {
	named := c.Flags().Lookup(configFlag)
	if named == nil || named.Annotations[readsKey] == nil || named.Value.String() == "" {
		return nil
	}
	path := named.Value.String()
	list, err := readConfig(path, c)
	if err != nil {
		return &UsageError{Err: err}
	}
	var taken []string
	for _, s := range list {
		if s.flag.Changed {
			continue
		}
		for _, value := range s.values {
			if c.Flags().Set(s.flag.Name, value) != nil {
				return &UsageError{Err: fmt.Errorf("%s: line %d: must be a value that --%s takes (another was given)", path, s.line,
					s.flag.Name)}
			}
		}
		taken = append(taken, s.flag.Name)
	}
	a.Say("from %s: %s", path, strings.Join(taken, ", "))
	return nil
}

// readConfig reads a file of flags of c.
func readConfig(path string, c *cobra.Command) (list []setting, err error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, yamltext.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	root, err := yamltext.Parse(path, text)
	if err != nil || root.Kind != yamltext.Mapping {
		return nil, fmt.Errorf("%s: line %d: must be YAML: a flag of %s, a colon and its value on each line, and each flag once", path,
			yamltext.LineOf(err), c.CommandPath())
	}
	for _, p := range root.Pairs {
		s := setting{line: p.Line, flag: c.Flags().Lookup(p.Key)}
		bad := func(want string) ([]setting, error) {
			return nil, fmt.Errorf("%s: line %d: must %s", path, s.line, want)
		}
		if s.flag == nil || s.flag.Name == configFlag || VariableOf(s.flag) == "" {
			return bad("begin with a flag of " + c.CommandPath() + ", without its dashes; a flag that gives up a protection can only be typed")
		}
		_, repeated := s.flag.Value.(pflag.SliceValue)
		items := []*yamltext.Node{p.Value}
		if p.Value.Kind == yamltext.List && repeated {
			items = p.Value.Items
		}
		for _, item := range items {
			if item.Kind != yamltext.Plain && item.Kind != yamltext.Quoted {
				return bad("have one value, or a list if the flag may be repeated")
			}
			s.values = append(s.values, item.Text)
		}
		list = append(list, s)
	}
	return list, nil
}
