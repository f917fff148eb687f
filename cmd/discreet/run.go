// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// app is what a command knows of the world outside.
type app struct {
	env            []string // KEY=value
	stdin          io.Reader
	stdout, stderr io.Writer
	running        bool // the command line was understood and a command has begun
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{env: env, stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	if args == nil {
		args = []string{} // cobra reads os.Args where there is nil
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if !a.running {
		err = &usageError{err}
	}
	report(stderr, err, cmd.CommandPath())
	return exitCode(err)
}

// root is the command without a name and everything below it.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "discreet",
		Short: "train classifiers that provably hide the private columns of a table",
		Long: `Discreet trains classifiers on tables whose columns are partly private, and
proves (by differential privacy) how little a model tells about the private
part of anybody's row.

A schema says what is known about a table before anybody looks at it, a plan
says what a training will cost, and a model carries the statement of what it
did cost.

It exits with 0 when all is well, 1 when something failed, 2 when the command
line asks for something that cannot be, and 3 when a privacy budget refuses.`,
		Example: `  discreet demo
  discreet schema init patients.csv > patients.yaml
  discreet plan     --schema patients.yaml --learner brc --epsilon 0.5 --rows 20000
  discreet train    --data patients.csv --schema patients.yaml --learner brc --epsilon 0.5 --model m.json
  discreet evaluate --model m.json --data held-out.csv
  discreet predict  --model m.json --data new.csv --out predicted.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	group(root,
		a.schema(),

		a.plan(),
		a.train(),
		a.tune(),
		a.budget(),

		a.simulate(),
		a.party(),
		a.combine(),

		a.predict(),
		a.explain(),
		a.evaluate(),
		a.compare(),
		a.audit(),
		a.attack(),
		a.demo(),
		a.experiment(),
		a.report(),

		a.certs(),
		a.aggregator(),
		a.helper(),
		a.task(),
		a.owner(),

		a.version(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() { // cobra's own begin with a capital
		c.Short = strings.ToLower(c.Short[:1]) + c.Short[1:]
		if c.HasSubCommands() && c.RunE == nil {
			group(c)
		}
	}
	// A group runs only to refuse what is no command of it.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	a.notice(root)
	return root
}

// notice makes every command below c tell a that it has begun: whatever fails
// before that is a fault of the command line.
func (a *app) notice(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.notice(sub)
	}
	if body := c.RunE; body != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.running = true
			return body(c, args)
		}
	}
}

// group is a command that only holds others.
func group(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.AddCommand(subs...)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return &usageError{fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())}
		}
		return c.Help()
	}
	return c
}

// required marks flags that have no default. It panics where c lacks one.
func required(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// say writes a line of talk.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, format+"\n", args...)
}

// getenv returns the last value of a variable, "" when it is not set.
func (a *app) getenv(key string) (value string) {
	for _, kv := range a.env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			value = v
		}
	}
	return value
}
