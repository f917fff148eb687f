// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"context"
	"io"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Split determines how a table's files are divided into training rows and held-out rows.
type Split struct {
	HeldOut float64 // share of each class's rows that is held out, in [0.01, 0.99]
	Seed    uint64  // the same seed divides the same table equally; it is not secret
}

// Check refuses a share out of range.
func (s Split) Check() error {
	if !(s.HeldOut >= 0.01 && s.HeldOut <= 0.99) {
		return &dp.ParamError{Op: "split", Param: "held-out", Want: "must be a share from 0.01 to 0.99", Got: s.HeldOut}
	}
	return nil
}

// Deal reports for each row whether it is held out. In every class, the share HeldOut of the rows,
// rounded to whole rows, is drawn at random.
func (s Split) Deal(labels []uint8) (judges []bool) {
	judges = make([]bool, len(labels))
	rows := map[uint8][]int{}
	for i, l := range labels {
		rows[l] = append(rows[l], i)
	}
	src := replay.Seeded(s.Seed, "split")
	for class := range 256 {
		of := rows[uint8(class)]
		rng.Shuffle(src, len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		for _, i := range of[:int(s.HeldOut*float64(len(of))+0.5)] {
			judges[i] = true
		}
	}
	return judges
}

// dealBlindly decides each row by an independent random draw that depends only on its position in the
// table, not on its content or on other rows (2.1; evidence/guarantees/evaluation.md).
//
// Claim G-EVALUATION-2. Trainings on one side and evaluations on the other cost the more expensive of
// the two.
func (s Split) dealBlindly(rows int) (judges []bool) {
	src := replay.Seeded(s.Seed, "split")
	judges = make([]bool, rows)
	for i := range judges {
		judges[i] = rng.Below(src, coinSides) < uint64(s.HeldOut*coinSides)
	}
	return judges
}

const coinSides = 1 << 32

// dealPersons is Deal by persons, regardless of their classes: no person has rows on both sides.
func (s Split) dealPersons(t *dataset.Table) (judges []bool) {
	judges = make([]bool, t.Rows)
	_, test := sample.HoldOutUnits(t, s.HeldOut, replay.Seeded(s.Seed, "split"))
	for _, i := range test {
		judges[i] = true
	}
	return judges
}

// Write divides the table in the files and copies its rows unchanged, quotes included: held-out rows
// to judge, the others to train. It returns the number of rows written to each.
func (s Split) Write(ctx context.Context, sch *schema.Schema, opts dataset.Options, train, judge io.Writer,
	formats [2]dataset.Format, paths ...string) (counts [2]int, err error) {
	t, err := dataset.Read(ctx, sch, opts, paths...)
	if err != nil {
		return counts, err
	}
	judges := s.Deal(t.Labels)
	switch {
	case t.Persons != nil:
		judges = s.dealPersons(t)
	case sch.Label.Role == schema.Private: // sides that follow from labels would tell about them
		judges = s.dealBlindly(t.Rows)
	}
	for _, j := range judges {
		if j {
			counts[1]++
		} else {
			counts[0]++
		}
	}
	for k, w := range []io.Writer{train, judge} {
		keep := func(row int) bool { return judges[row] == (k == 1) }
		if err := dataset.CopyRows(ctx, sch, opts, w, formats[k], nil, keep, paths...); err != nil {
			return counts, err
		}
	}
	return counts, nil
}
