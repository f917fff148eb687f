// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/audit"
)

// App adds the shared commands to the environment of a command.
type App struct {
	*cli.App
	// DrawAudit draws an audit to an .svg or .png file; nil for a program that draws no figures.
	DrawAudit func(path string, r *audit.Report) error
	// Cluster makes the cluster of --engine spark; nil for a program without Spark.
	Cluster func(master, submit string) train.Cluster
}

// Clock is the time that services and deadlines use. Tests replace it.
var Clock = time.Now

// Group is a set of commands that a program lists together.
type Group struct {
	Title    string
	Commands []*cobra.Command
}

// NewRoot completes the root command of a program with its groups and the commands that every program
// has. more are commands outside the groups.
func (a *App) NewRoot(root *cobra.Command, groups []Group, more ...*cobra.Command) *cobra.Command {
	for i, g := range groups {
		id := strconv.Itoa(i)
		root.AddGroup(&cobra.Group{ID: id, Title: g.Title + ":"})
		for _, c := range g.Commands {
			c.GroupID = id
		}
		root.AddCommand(g.Commands...)
	}
	root.Version = build.Describe(root.Name())
	root.SetVersionTemplate("{{.Version}}\n")
	cli.Group(root, append(more, a.newVersionCommand(root.Name()))...)
	return root
}

// Laboratory are commands of discreet-lab that were commands of discreet.
var Laboratory = []string{"attack", "compare"}

// NameProgram makes root refuse the commands named, and point to the program that has them.
func NameProgram(root *cobra.Command, program string, names ...string) {
	for _, name := range names {
		root.AddCommand(&cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true, Short: "a command of " + program,
			RunE: func(*cobra.Command, []string) error {
				return &cli.UsageError{Err: &dp.ParamError{Op: root.Name(), Param: "command", Want: "must be given to " + program,
					Got: name, Hint: "run " + program + " " + name}}
			},
		})
	}
}
