// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
)

// Outlook is the expected accuracy of a population's reports, computed without any data.
type Outlook struct {
	Classifier string     `json:"classifier"`
	Epsilon    dp.Epsilon `json:"epsilon_nano"`
	Owners     int        `json:"owners"`
	Rounds     int        `json:"rounds"`
	// Noise is the target standard deviation of an estimated share of all records, and Needed the
	// number of owners that achieves it.
	Noise     float64            `json:"noise"`
	Needed    int                `json:"needed"`
	Questions []collect.Forecast `json:"questions"`
}

// Foresee plans a task of mode local without posing it. Its errors are *dp.ParamError.
func Foresee(p collect.Params, noise float64) (*Outlook, error) {
	p.Nonce = strings.Repeat("0", 32)
	task, err := collect.Plan(p)
	if err != nil {
		return nil, err
	}
	o := &Outlook{
		Classifier: string(p.Classifier), Epsilon: p.Epsilon, Owners: p.Owners, Rounds: len(task.Rounds), Noise: noise,
	}
	if o.Questions, err = collect.Forecasts(task, p.Owners); err != nil {
		return nil, err
	}
	o.Needed, err = collect.OwnersFor(task, noise)
	return o, err
}

// WriteText writes the outlook as text for readers.
func (o *Outlook) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d owners, one report of epsilon %s each, rounds: %d\n\n", o.Owners, o.Epsilon, o.Rounds)
	fmt.Fprintf(&b, "%-24s %6s %-10s %10s %8s %10s\n", "question", "cells", "mechanism", "owners", "noise", "one liar")
	for _, q := range o.Questions {
		fmt.Fprintf(&b, "%-24s %6d %-10s %10d %8.4f %10.2g\n", q.Column, q.Cells, q.Mechanism, q.Owners, q.Noise, q.Reach)
	}
	fmt.Fprintf(&b, "\nnoise: standard deviation of a cell's estimated share of all records, first round\n"+
		"one liar: how far one dishonest report can move it\n%d owners bring the noise of every question to %g\n",
		o.Needed, o.Noise)
	_, err := io.WriteString(w, b.String())
	return err
}
