// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/train"
)

// Choice holds the flags that select a learner, its options and its price. Commands that train share
// them.
type Choice struct {
	Name  string
	Price train.PriceText
	given map[string]*option
	named []string // options as NAME=VALUE
}

// option is a learner's option as it was typed. It is checked once all flags have been read, because
// only then is its learner known.
type option struct {
	text, kind string
	set        bool
}

func (o *option) String() string     { return o.text }
func (o *option) Set(s string) error { o.text, o.set = s, true; return nil }
func (o *option) Type() string       { return o.kind }

func AddChoice(c *cobra.Command) *Choice {
	ch := &Choice{given: map[string]*option{}}
	f, names, all := c.Flags(), train.LearnerNames(), train.Learners()
	f.StringVar(&ch.Name, "learner", "",
		"the `name` of what to train: "+strings.Join(names, ", ")+" (default "+train.DefaultLearner+")")
	CompleteFlag(c, "learner", names...)
	f.StringVar(&ch.Price.Epsilon, "epsilon", "",
		"the privacy loss `ε` that a private learner may spend; inf only with --not-private")
	f.StringVar(&ch.Price.Delta, "delta", "0",
		"the `δ` that a learner with an (ε, δ) mode ("+strings.Join(train.ApproximateNames(),
			", ")+") may spend in addition")
	f.BoolVar(&ch.Price.NotPrivate, "not-private", false, "train without privacy although the schema has private columns")
	f.StringArrayVar(&ch.named, "option", nil, "an option of the learner as `NAME=VALUE`, for programs; may be repeated")
	f.MarkHidden("option")
	c.SetFlagErrorFunc(nameLaboratory)
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

// nameLaboratory names the program that has an option, if only learners of the laboratory have it.
func nameLaboratory(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || !slices.Contains(train.LaboratoryOptions, unknown.GetSpecifiedName()) {
		return err
	}
	return &dp.ParamError{Op: c.Name(), Param: unknown.GetSpecifiedName(), Want: "must not be given: no learner has such a choice",
		Hint: train.LaboratoryHint}
}

// MakeRequest checks the flags by themselves, before any file is opened.
func (ch *Choice) MakeRequest(op string) (*train.Request, error) {
	req, err := ch.CollectFlags().Request(op)
	return req, AsUsageError(err)
}

// CollectFlags returns the choice as it was typed.
func (ch *Choice) CollectFlags() train.Choice {
	asked := train.Choice{Learner: ch.Name, Options: map[string]string{}, Price: ch.Price}
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

// CompleteFlag sets the words that the shell offers for a flag.
func CompleteFlag(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
