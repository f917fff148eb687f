// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/tune"
)

// tuneFlags holds the flags of the command: those of train, with candidates in place
// of a learner.
type tuneFlags struct {
	trainFlags
	epsilon    string
	learners   []string
	candidates string
	params     tune.Params
}

func (a *App) NewTuneCommand() *cobra.Command {
	t := &tuneFlags{trainFlags: trainFlags{App: a}, params: tune.Defaults()}
	c := &cobra.Command{
		Use:   "tune",
		Short: "train candidates and release the best one privately",
		Long: `Tune trains several candidates, each a learner with its options, and writes the
model with the lowest loss on rows that it was not trained on. The loss is log
loss; --loss auc chooses by ranking, and --loss mistakes by the error rate,
which may be the same for all candidates if one class is rare. The choice is
private too: --epsilon pays for the model and for choosing it, and nothing about
the other candidates is released. If you can choose a learner in advance, train
gives a better model with all of --epsilon.

  --method all          trains each candidate once, for an equal share of
                        epsilon; good for a few candidates
  --method geometric    trains candidates drawn at random, a random number of
  --method logarithmic  times, for a third, a half and two thirds of epsilon
  --method root         each, however many candidates there are

A random number of trainings must stay secret. If others can see how long the
command takes, use all. --patience increases the number of trainings at the same
price.

Candidates are named as in train, with their options after colons. --learners
lists them. A file of --candidates has one candidate per line; empty lines and
lines that begin with # are ignored. A ledger is charged as by train.`,
		Example: `  discreet tune --data adult.data.gz --schema adult.yaml \
    --learners additive,brc:rounds=5,brc --epsilon 1 --model m.json
  discreet tune --data adult.data.gz --schema adult.yaml --candidates grid.txt --method logarithmic --patience 30 \
    --epsilon 1 --model m.json --ledger l.db --dataset adult --job tuesday`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runTune(c) },
	}
	t.addFlags(c)
	c.Flags().StringVar(&t.epsilon, "epsilon", "", "the privacy loss `ε` of the model and its choice together")
	c.Flags().StringSliceVar(&t.learners, "learners", nil,
		"the `names` of candidates, each with its options: NAME[:OPTION=VALUE]...")
	c.Flags().StringVar(&t.candidates, "candidates", "", "a `file` of candidates, one to a line")
	c.Flags().StringVar((*string)(&t.params.Method), "method", string(t.params.Method),
		"the `method`, which sets the number of trainings: all, geometric, logarithmic or root")
	c.Flags().StringVar((*string)(&t.params.Loss), "loss", string(t.params.Loss),
		"the `loss` on held-out rows: log-loss, auc or mistakes")
	c.Flags().Float64Var(&t.params.HeldOut, "held-out", t.params.HeldOut,
		"the `share` of the rows for choosing, not for training")
	c.Flags().IntVar(&t.params.Patience, "patience", t.params.Patience,
		"a random number of runs ends with probability 1/`number` after each; not used by all")
	cli.Reads(c, "candidates")
	cli.Require(c, "epsilon")
	CompleteFlag(c, "learners", train.LearnerNames()...)
	CompleteFlag(c, "method", cli.Words(tune.Methods())...)
	CompleteFlag(c, "loss", cli.Words(tune.Losses())...)
	c.MarkFlagsOneRequired("learners", "candidates")
	c.MarkFlagsMutuallyExclusive("learners", "candidates")
	return c
}

func (t *tuneFlags) runTune(c *cobra.Command) error {
	specs, err := t.readCandidates()
	if err != nil {
		return err
	}
	req, err := train.Tune(t.params, specs, t.epsilon)
	if err != nil {
		return AsUsageError(err)
	}
	return t.trainRequest(c, req)
}

// readCandidates returns the candidates from the command line or from the file.
func (t *tuneFlags) readCandidates() (specs []string, err error) {
	if t.candidates == "" {
		return t.learners, nil
	}
	text, err := openfile.Read(t.candidates)
	if err != nil {
		return nil, fmt.Errorf("tune: candidates: %w", err)
	}
	if specs, err = train.ReadCandidates(string(text)); err != nil {
		return nil, AsUsageError(fmt.Errorf("tune: %s: %w", t.candidates, err))
	}
	return specs, nil
}
