// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/train"
)

// choice is a learner, its options and its price as flags: what to train, shared
// by the commands that do.
type choice struct {
	name  string
	price train.PriceText
	given map[string]*option
	named []string // options as NAME=VALUE, which can be no other flag
}

// option is a learner's option as it was typed: which learner it goes to, and so
// what it may be, is known only once all flags have been read.
type option struct {
	text, kind string
	set        bool
}

func (o *option) String() string     { return o.text }
func (o *option) Set(s string) error { o.text, o.set = s, true; return nil }
func (o *option) Type() string       { return o.kind }

func addChoice(c *cobra.Command) *choice {
	ch := &choice{given: map[string]*option{}}
	f, names, all := c.Flags(), train.LearnerNames(), train.Learners()
	f.StringVar(&ch.name, "learner", "",
		"the `name` of what to train: "+strings.Join(names, ", ")+" (default "+train.DefaultLearner+")")
	completeFlag(c, "learner", names...)
	f.StringVar(&ch.price.Epsilon, "epsilon", "",
		"the privacy loss `ε` that a private learner may spend; inf only with --not-private")
	f.StringVar(&ch.price.Delta, "delta", "0",
		"the `δ` that a learner with an (ε, δ) mode ("+strings.Join(train.ApproximateNames(),
			", ")+") may spend in addition")
	f.BoolVar(&ch.price.NotPrivate, "not-private", false, "train without privacy although the schema has private columns")
	f.StringArrayVar(&ch.named, "option", nil, "an option of the learner as `NAME=VALUE`, for programs; may be repeated")
	f.MarkHidden("option")
	for _, l := range all {
		title := "Learner " + l.Name
		if l.Name == train.DefaultLearner {
			title += ", the default"
		}
		for _, o := range l.Options {
			if ch.given[o.Name] == nil {
				ch.given[o.Name] = &option{kind: o.Value.Type()}
				f.Var(ch.given[o.Name], o.Name, o.Usage)
			}
			cli.AddToSection(c, title, o.Name, fmt.Sprintf("%s (default %s)", o.Usage, o.Value))
		}
	}
	return ch
}

// makeRequest checks the flags on their own, before any file is opened.
func (ch *choice) makeRequest(op string) (*train.Request, error) {
	req, err := ch.collectFlags().Request(op)
	return req, asUsageError(err)
}

// collectFlags is the choice as it was typed.
func (ch *choice) collectFlags() train.Choice {
	asked := train.Choice{Learner: ch.name, Options: map[string]string{}, Price: ch.price}
	for name, o := range ch.given {
		if o.set {
			asked.Options[name] = o.text
		}
	}
	for _, named := range ch.named {
		name, value, _ := strings.Cut(named, "=")
		asked.Options[name] = value
	}
	return asked
}

// completeFlag offers words to the shell for a flag.
func completeFlag(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
