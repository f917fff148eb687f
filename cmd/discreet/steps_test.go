// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

var (
	namedCommand = regexp.MustCompile(`discreet((?: [a-z]+)+)`)
	namedFlag    = regexp.MustCompile(`--([a-z-]+)`)
)

// TestStepsNameFlagsThatExist: the words of every kind of step, and the parameters that the core advises to
// give or to leave out, name commands and flags of the programs.
func TestStepsNameFlagsThatExist(t *testing.T) {
	root := newTestRoot()
	commands := append(walkCommands(root), walkCommands(newNetRoot(&cli.App{}))...)
	anywhere := func(flag string) bool {
		for _, c := range commands {
			if c.Flags().Lookup(flag) != nil {
				return true
			}
		}
		return false
	}
	all := &cobra.Command{}
	for _, c := range commands {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if all.Flags().Lookup(f.Name) == nil {
				all.Flags().AddFlag(f)
			}
		})
	}
	for kind := dp.NoStep + 1; kind < dp.StepKinds; kind++ {
		s := dp.Step{Kind: kind, Name: "rows", Why: "0.5"}
		words := cli.StepWords(all)(s)
		if s.String() == "" || words == "" || words == s.String() || strings.Contains(words, "{") {
			t.Errorf("kind %d has the words %q, and plainly %q", kind, words, s)
		}
		if plain := cli.StepWords(&cobra.Command{})(s); namedFlag.MatchString(ownWords(plain)) {
			t.Errorf("kind %d names a flag to a command without any: %q", kind, plain)
		}
		if m := namedCommand.FindStringSubmatch(words); m != nil {
			c, _, err := root.Find(strings.Fields(m[1])) // what follows the command's name is left over
			if err != nil || c == root {
				t.Errorf("%q names no command", words)
				continue
			}
			for _, flag := range namedFlag.FindAllStringSubmatch(words[strings.Index(words, "discreet "):], -1) {
				if c.Flags().Lookup(flag[1]) == nil {
					t.Errorf("%q: %s has no --%s", words, c.CommandPath(), flag[1])
				}
			}
		}
	}
	found := 0
	for _, name := range advisedParameters(t) {
		if found++; !anywhere(name) {
			t.Errorf("no command has --%s, which a step names", name)
		}
	}
	if found < 5 {
		t.Errorf("found %d steps that name a parameter", found)
	}
}

// ownWords returns the words before a command.
func ownWords(words string) string {
	own, _, _ := strings.Cut(words, "discreet ")
	return own
}

func walkCommands(c *cobra.Command) (all []*cobra.Command) {
	all = append(all, c)
	for _, sub := range c.Commands() {
		all = append(all, walkCommands(sub)...)
	}
	return all
}

// advisedParameters returns the names in steps of the kinds GiveParam and LeaveOut.
func advisedParameters(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind, name := "", ""
			for _, e := range lit.Elts {
				pair, ok := e.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				switch v := pair.Value.(type) {
				case *ast.SelectorExpr:
					kind = v.Sel.Name
				case *ast.BasicLit:
					if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Name" {
						name, _ = strconv.Unquote(v.Value)
					}
				}
			}
			if kind == "GiveParam" || kind == "LeaveOut" {
				if name == "" {
					t.Errorf("%s: a step about a parameter that has no literal name", path)
				}
				names = append(names, name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
