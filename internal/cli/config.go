// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	configFlag = "config"
	maxConfig  = 1 << 20
)

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
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return nil, err
	}
	malformed := func(line int) ([]setting, error) {
		return nil, fmt.Errorf("%s: line %d: must be YAML: a flag of %s, a colon and its value on each line, and each flag once", path,
			line, c.CommandPath())
	}
	parsed, err := parser.ParseBytes(text, 0)
	if bad := (*yaml.SyntaxError)(nil); errors.As(err, &bad) && bad.Token != nil {
		return malformed(bad.Token.Position.Line)
	}
	if err != nil || len(parsed.Docs) != 1 {
		return malformed(1)
	}
	var pairs []*ast.MappingValueNode
	switch body := parsed.Docs[0].Body.(type) {
	case *ast.MappingNode:
		pairs = body.Values
	case *ast.MappingValueNode:
		pairs = append(pairs, body)
	default:
		return malformed(1)
	}
	for _, p := range pairs {
		key := p.Key.GetToken()
		s := setting{line: key.Position.Line, flag: c.Flags().Lookup(key.Value)}
		bad := func(want string) ([]setting, error) {
			return nil, fmt.Errorf("%s: line %d: must %s", path, s.line, want)
		}
		if s.flag == nil || s.flag.Name == configFlag || VariableOf(s.flag) == "" {
			return bad("begin with a flag of " + c.CommandPath() + ", without its dashes, that need not be typed")
		}
		_, repeated := s.flag.Value.(pflag.SliceValue)
		items := []ast.Node{p.Value}
		if of, ok := p.Value.(*ast.SequenceNode); ok && repeated {
			items = of.Values
		}
		for _, item := range items {
			value, ok := scalarText(item)
			if !ok {
				return bad("have one value, or a list if the flag may be repeated")
			}
			s.values = append(s.values, value)
		}
		list = append(list, s)
	}
	return list, nil
}

// scalarText is a plain or quoted value.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}
