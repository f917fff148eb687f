// SPDX-License-Identifier: Apache-2.0

// Package experiment lists the figures that can be measured again and runs them.
// One folder per paper, one file per figure; how a run works is in
// lab/internal/experiment/frame.
package experiment

import (
	"context"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/chaudhuri"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frontier"
	"github.com/discreet-dp/discreet/lab/internal/experiment/hamm"
	"github.com/discreet-dp/discreet/lab/internal/experiment/shen"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang"
)

// All returns every figure, by paper and then in the paper's order.
func All() []*frame.Figure {
	return slices.Concat(shen.Figures(), chaudhuri.Figures(), wangchang.Figures(), hamm.Figures(), frontier.Figures())
}

// Find returns the figure of a name such as "shen/fig2a", or a *dp.ParamError
// that lists the names there are.
func Find(name string) (*frame.Figure, error) {
	var names []string
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, &dp.ParamError{Op: "experiment", Param: "figure", Want: "must be one of " + strings.Join(names, ", "),
		Got: name}
}

// Run runs the figure of that name; see frame.Figure.Run.
func Run(ctx context.Context, name string, o frame.Options) (*frame.Result, error) {
	f, err := Find(name)
	if err != nil {
		return nil, err
	}
	return f.Run(ctx, o)
}
