// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"crypto/sha256"
	"errors"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Round is a broadcast that owners answer.
type Round struct {
	terms  *Terms
	round  *wire.Round
	digest [32]byte       // SHA-256 of the broadcast
	laws   []response.Law // by ask; one in an error slot; nil in mode aggregate
	// In mode aggregate: the mechanism of addends, and the offset of the table of each ask.
	addend response.Addend
	starts []int
}

// Read reads a broadcast of the task and refuses one that violates the task.
func (t *Terms) Read(round []byte) (*Round, error) {
	r, err := wire.ParseRound(t.task, round)
	if err != nil {
		return nil, err
	}
	out := &Round{terms: t, round: r, digest: sha256.Sum256(round)}
	if r.Crowd != nil {
		at := 0
		for a := range max(1, len(r.Asks)) {
			out.starts = append(out.starts, at)
			at += r.Cells(t.task, a) * t.task.Schema.Classes()
		}
		out.addend, err = r.Addend(t.task)
		return out, err
	}
	for a := range max(1, len(r.Asks)) {
		law, err := t.task.Law(r.Cells(t.task, a))
		if err != nil {
			return nil, err
		}
		out.laws = append(out.laws, law)
	}
	return out, nil
}

// Slot is the slot of the round.
func (r *Round) Slot() int { return r.round.Slot }

// Reporter answers a round for owners. It is not safe for concurrent use.
type Reporter struct {
	*Round
	owners *Owners
	recs   *Records
	weigh  *weigher
	z      []float64
	vector []float64
}

// Reporter prepares owners' answers to the round.
func (r *Round) Reporter(owners *Owners) *Reporter {
	weigh := newWeigher(owners.recs, r.round.Weighing())
	return &Reporter{Round: r, owners: owners, recs: owners.recs, weigh: weigh,
		z: make([]float64, r.terms.task.Schema.Classes())}
}

// perturbReport returns the answer of the named owner about one record. It draws fresh noise in each
// call, so that two calls for one owner cost twice.
//
// Claim G-LOCALBOOST-1. For any record, the report is (ε, 0)-DP: cell, weight and label affect it
// through the law alone.
func (p *Reporter) perturbReport(name string, ticket uint64, row int, exit *mech.Exit) (*wire.Report, error) {
	if p.laws == nil {
		return nil, errSecret
	}
	ask := p.round.Ask(ticket)
	w := p.weigh.weight(row)
	var words response.Report
	var err error
	switch law := p.laws[ask].(type) {
	case response.CellLaw:
		words, err = exit.PerturbCell("report", law, p.findCell(ask, row)*len(p.z)+int(p.recs.tab.Labels[row]), w)
	case response.VectorLaw:
		words, err = exit.Perturb("report", law, p.fillVector(ask, row, w))
	}
	if err != nil {
		return nil, err
	}
	return &wire.Report{Task: p.terms.digest, Owner: name, Slot: p.round.Slot, Ask: ask, Words: words}, nil
}

// findCell returns the record's cell for an ask.
func (p *Reporter) findCell(ask, row int) int {
	if p.round.IsError() {
		return p.recs.memberAnswer(&p.round.Members[len(p.round.Members)-1], row, p.z)
	}
	a := &p.round.Asks[ask]
	cell := int(p.recs.bins[a.Question][p.recs.codeAt(a.Question, row)])
	if len(a.Groups) > 0 {
		return a.Groups[cell]
	}
	return cell
}

// fillVector writes the record's weight into a vector over the cells, for laws on vectors.
func (p *Reporter) fillVector(ask, row int, w float64) []float64 {
	n := p.laws[ask].Dim()
	if cap(p.vector) < n {
		p.vector = make([]float64, n)
	}
	v := p.vector[:n]
	clear(v)
	v[p.findCell(ask, row)*len(p.z)+int(p.recs.tab.Labels[row])] = w
	return v
}

// perturbAddend draws the addend of one record's owner for the slot's secret sum. The addend contains
// little noise, so it must leave only as shares (package secsum).
//
// Claim G-LOCALBOOST-5.
func (p *Reporter) perturbAddend(row int, exit *mech.Exit) ([]uint64, error) {
	if p.laws != nil {
		return nil, errOpen
	}
	cells, w := p.findCells(row)
	return exit.CellAddend("addend", p.addend, cells, w)
}

// findCells returns the record's cell in each of the slot's tables, as positions in the concatenated
// tables, and its weight.
func (p *Reporter) findCells(row int) ([]int, float64) {
	K, y := len(p.z), int(p.recs.tab.Labels[row])
	w := p.weigh.weight(row)
	cells := make([]int, len(p.starts))
	for a, at := range p.starts {
		cells[a] = at + p.findCell(a, row)*K + y
	}
	return cells, w
}

// SumAddends draws the sum of the addends of some owners at once, for simulations.
func (p *Reporter) SumAddends(owners []int32, exit *mech.Exit) ([]uint64, error) {
	if p.laws != nil {
		return nil, errOpen
	}
	rows := make([]int, len(owners))
	for i, owner := range owners {
		rows[i] = p.owners.drawRow(int(owner), exit.Public())
	}
	return exit.CellCrowd(p.addend, func(yield func([]int, float64) bool) {
		for _, row := range rows {
			if !yield(p.findCells(row)) {
				return
			}
		}
	})
}

var (
	errSecret = errors.New("owner: in mode aggregate owners send shares of addends, never reports")
	errOpen   = errors.New("owner: in mode local owners send reports, never addends")
)
