// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// stumps is section 3.5.3. Numbers become one binary attribute per cut,
// categories one per code.
type stumps struct {
	*run
	attrs []Attribute
	sides [][]uint8 // per attribute, per code of its column: the branch, 0 or 1
	width int       // numbers per branch: 1 for two classes, the difference, else K
	kept  []member
	last  member
}

type member struct {
	attr  int
	label [2]uint8 // per branch
	vote  float64
}

func newStumps(r *run) (*stumps, error) {
	s := &stumps{run: r, width: r.classes}
	if r.classes == 2 {
		s.width = 1
	}
	for _, j := range r.tab.Schema.Features() {
		c, col := &r.tab.Schema.Columns[j], &r.tab.Cols[j]
		if c.Kind == schema.Number {
			for _, e := range feature.Cuts(c, r.Bins) {
				side := make([]uint8, len(col.Values))
				for code, x := range col.Values {
					if x >= e {
						side[code] = 1
					}
				}
				s.attrs, s.sides = append(s.attrs, Attribute{Column: j, Number: true, Edge: e}), append(s.sides, side)
			}
			continue
		}
		for code := range c.Codes() {
			side := make([]uint8, c.Codes())
			side[code] = 1
			s.attrs, s.sides = append(s.attrs, Attribute{Column: j, Code: code}), append(s.sides, side)
		}
	}
	return s, nil
}

func (s *stumps) sideOf(attr, row int) uint8 {
	return s.sides[attr][s.tab.Cols[s.attrs[attr].Column].Codes.At(row)]
}

// writeTables writes an owner's cross tables: per attribute and branch, the weights of
// label 0 less those of label 1, or of more classes the weight of each.
func (s *stumps) writeTables(o int, x []float64) {
	from, to := s.ownerRows(o)
	for i := from; i < to; i++ {
		w, y := s.rowShare(i)/float64(to-from), int(s.tab.Labels[i])
		for a := range s.attrs {
			at := (2*a + int(s.sideOf(a, i))) * s.width
			switch {
			case s.width > 1:
				x[at+y] += w
			case y == 0:
				x[at] += w
			default:
				x[at] -= w
			}
		}
	}
}

// splitCriterion is (5): the largest is best. For more than two classes, the weight
// that the branches' majorities get right.
func (s *stumps) splitCriterion(sums []float64) []float64 {
	out := make([]float64, len(s.attrs))
	for a := range out {
		for b := range 2 {
			branch := sums[(2*a+b)*s.width:][:s.width]
			if s.width == 1 {
				out[a] += math.Abs(branch[0])
			} else {
				out[a] += slices.Max(branch)
			}
		}
	}
	return out
}

func (s *stumps) fit(ctx context.Context, group []int, t *Round) (func(int) uint8, error) {
	dim := 2 * len(s.attrs) * s.width
	var exact []float64
	if s.Trace != nil {
		exact = make([]float64, dim)
	}
	noisy, err := s.sumReports(ctx, dim, group, func(o int, x []float64) error {
		s.writeTables(o, x)
		for j := range exact {
			exact[j] += x[j]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.Attributes, t.Noisy = s.attrs, s.splitCriterion(noisy)
	if exact != nil {
		t.Exact = s.splitCriterion(exact)
	}
	t.Chosen = 0
	for a, c := range t.Noisy {
		if c > t.Noisy[t.Chosen] {
			t.Chosen = a
		}
	}
	s.last = member{attr: t.Chosen, label: s.askMajorities(t.Chosen, group)}
	m := s.last
	return func(row int) uint8 { return m.label[s.sideOf(m.attr, row)] }, nil
}

// askMajorities asks each owner of the group, in clear, for the majority of its
// records' weights in each branch, and takes the majority of the answers. A
// branch without records takes that of all.
func (s *stumps) askMajorities(attr int, group []int) (label [2]uint8) {
	votes := make([][]int, 3) // the last: of both branches
	for b := range votes {
		votes[b] = make([]int, s.classes)
	}
	for _, o := range group {
		own := make([]float64, 2*s.classes)
		from, to := s.ownerRows(o)
		for i := from; i < to; i++ {
			own[int(s.sideOf(attr, i))*s.classes+int(s.tab.Labels[i])] += s.weights.Of[i]
		}
		for b := range 2 {
			branch := own[b*s.classes : (b+1)*s.classes]
			top := slices.Index(branch, slices.Max(branch))
			if branch[top] > 0 {
				votes[b][top]++
				votes[2][top]++
			}
		}
	}
	for b := range 2 {
		v := votes[b]
		if slices.Max(v) == 0 {
			v = votes[2]
		}
		label[b] = uint8(slices.Index(v, slices.Max(v)))
	}
	return label
}

func (s *stumps) keep(vote float64) {
	s.last.vote = vote
	s.kept = append(s.kept, s.last)
}

func (s *stumps) model() *model.Model {
	if len(s.kept) == 0 { // nothing better than chance: everyone gets the first level
		s.kept = []member{{attr: 0, vote: 0}}
	}
	var cols []int
	for _, m := range s.kept {
		if j := s.attrs[m.attr].Column; !slices.Contains(cols, j) {
			cols = append(cols, j)
		}
	}
	slices.Sort(cols)
	out := &model.Model{Schema: s.tab.Schema.Part(cols)}
	ballots := &model.Ballots{Link: model.Share}
	spaces, at := make([]*feature.Space, len(cols)), make([]int, len(cols))
	for k, j := range cols {
		var err error
		if spaces[k], at[k], err = spaceOf(out, s.tab, []int{j}); err != nil {
			panic("printed: a table's column has no space: " + err.Error())
		}
	}
	for _, m := range s.kept {
		a := s.attrs[m.attr]
		k := slices.Index(cols, a.Column)
		th := feature.Threshold{Coef: make([]float64, spaces[k].Width())}
		if a.Number {
			_, x := spaces[k].Number(0, a.Edge)
			th.Coef[0], th.Bias = 1, -x
		} else {
			th.Coef[a.Code], th.Bias = 1, -0.5
		}
		ballots.Members = append(ballots.Members, model.Ballot{
			Space: at[k], Weight: m.vote,
			Stump: &model.Stump{Threshold: th, Yes: s.indicator(m.label[1]), No: s.indicator(m.label[0])},
		})
	}
	out.Classifier = ballots
	return out
}

func (r *run) indicator(label uint8) []float64 {
	v := make([]float64, r.classes)
	v[label] = 1
	return v
}
