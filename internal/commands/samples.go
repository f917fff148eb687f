// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/train"
)

// samples holds the flags of the question how many rows are needed to learn a linear classifier whose
// classes are separated by a margin.
type samples struct {
	margin float64 // γ, in (0, 1]
	err    float64 // α, in (0, 1)
	dim    int     // d ≥ 1
}

func (f *samples) addFlags(c *cobra.Command) {
	c.Flags().Float64Var(&f.margin, "margin", 0, "the margin `γ` of a linear classifier, above 0 and at most 1")
	c.Flags().Float64Var(&f.err, "error", 0, "the `error` α to learn it to, between 0 and 1")
	c.Flags().IntVar(&f.dim, "dim", 0, "`number` of dimensions d")
	cli.AddSection(c, "Sample sizes of linear classifiers", "margin", "error", "dim")
}

// sampleSizes returns nil if none of the flags is given.
func (f *samples) sampleSizes(c *cobra.Command, pr train.Price) (*train.SampleSizes, error) {
	var given, missing []string
	for _, name := range []string{"margin", "error", "dim"} {
		if c.Flags().Changed(name) {
			given = append(given, name)
		} else {
			missing = append(missing, name)
		}
	}
	switch {
	case given == nil:
		return nil, nil
	case missing != nil:
		return nil, dp.Refuse("plan", missing[0], "must be given too: sample sizes need --margin, --error and --dim", nil)
	}
	s, param, want := train.SampleSizesFor(f.margin, f.err, f.dim, pr.Epsilon)
	if s == nil {
		got := map[string]any{"margin": f.margin, "error": f.err, "dim": f.dim}[param]
		return nil, dp.Refuse("plan", param, want, got)
	}
	return s, nil
}
