// SPDX-License-Identifier: Apache-2.0

// Package cli contains what the programs share: exit codes, error and hint lines, progress, and atomic
// writing of files.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// App is the environment of a command.
type App struct {
	Env   []string // KEY=value
	Stdin io.Reader
	// What is written to Stdout and Stderr reaches a terminal without control characters other than line
	// breaks and tabs.
	Stdout, Stderr io.Writer
	data, progress io.Writer // standard output and error themselves
	running        bool      // the command line was valid and a command has begun
	outputs        *guard
}

// Main runs this process's command line and returns the exit code. A first interrupt ends the
// command, a second one the process.
func Main(newRoot func(*App) *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends even what does not listen
	return Run(ctx, newRoot, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
}

// Run parses the command line and runs one command of the tree that newRoot
// returns. It returns the exit code.
func Run(ctx context.Context, newRoot func(*App) *cobra.Command, args, env []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	out, said := plaintext.NewWriter(stdout), plaintext.NewWriter(stderr)
	defer func() { _ = errors.Join(out.Close(), said.Close()) }() // half a character that nothing followed
	a := &App{Env: env, Stdin: openfile.Interruptible(ctx, stdin), Stdout: out, Stderr: said, data: stdout, progress: stderr}
	root := newRoot(a)
	a.prepareTree(root)
	if args == nil {
		args = []string{} // cobra reads os.Args if there is nil
	}
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	wait := func(line string) { a.Say("%s", line) }
	ctx = openfile.TellWaits(ledger.TellWaits(ctx, wait), wait)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = interrupt(err)
	}
	if !a.running {
		err = &UsageError{Err: err}
	}
	writeError(a.Stderr, err, cmd)
	return exitCode(err)
}

// prepareTree adds cobra's own commands to the tree and makes groups refuse unknown commands.
func (a *App) prepareTree(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage, root.DisableSuggestions = true, true, true // see writeError
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() { // cobra's own begin with a capital
		c.Short = strings.ToLower(c.Short[:1]) + c.Short[1:]
		if c.HasSubCommands() && c.RunE == nil {
			Group(c)
		}
	}
	// A group runs only to refuse what is no command of it; flags stand in sections.
	root.SetUsageTemplate(strings.NewReplacer(
		"{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}",
		"\n\nFlags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagSections .}}",
	).Replace(root.UsageTemplate()))
	a.noticeStart(root)
}

// noticeStart makes every command below c record that it has begun: a failure before that is a fault
// of the command line. It also refuses outputs that would destroy inputs.
func (a *App) noticeStart(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.noticeStart(sub)
	}
	if c.RunE != nil && !c.Hidden {
		c.PreRunE = func(c *cobra.Command, _ []string) error {
			if err := a.setFromEnvironment(c); err != nil {
				return err
			}
			return a.setFromConfig(c)
		}
	}
	if body := c.RunE; body != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.running = true
			if err := refuseEmpty(c); err != nil {
				return err
			}
			if err := a.guardOutputs(c, args); err != nil {
				return err
			}
			return body(c, args)
		}
	}
}

// refuseEmpty refuses an empty text for a flag that has none by default: it is a variable of a script that
// nobody set, and not the same as a flag that is absent.
func refuseEmpty(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.DefValue == "" && f.Value.String() == "" {
			err = Refuse(c.Name(), f.Name, "must not be empty", nil)
		}
	})
	return err
}

// Group makes c a command that only holds others.
func Group(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.AddCommand(subs...)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return &UsageError{Err: fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())}
		}
		return c.Help()
	}
	return c
}

// Require marks flags that have no default. It panics if c lacks one of them.
func Require(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// Say writes a message for the user to standard error.
func (a *App) Say(format string, args ...any) {
	plaintext.Fprintf(a.Stderr, format+"\n", args...)
}

// Data returns standard output for bytes that must not change: rows, or a model in another format. To
// a terminal they are escaped as Stdout is.
func (a *App) Data() io.Writer {
	if _, terminal := findTerminal(a.data); terminal || a.data == nil {
		return a.Stdout
	}
	return a.data
}

// Getenv returns the last value of a variable, "" if it is not set.
func (a *App) Getenv(key string) (value string) {
	for _, kv := range a.Env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			value = v
		}
	}
	return value
}
