// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// NullRun says how a figure's checks fare on numbers that say nothing about its
// claim: checks that all hold there as well cannot fail.
type NullRun struct {
	Name       string  `json:"name"`
	Draws      int     `json:"draws"`      // of such numbers
	Reproduced int     `json:"reproduced"` // draws if every check holds
	Held       float64 `json:"held"`       // checks that hold, mean over the draws
}

const (
	nullDraws = 40
	// nullLimit is the number of draws that may pass by chance. A claim that turns on one
	// comparison passes one in twenty (miss): more than 6 of 40 in one of 300.
	nullLimit = 6
)

// IsBorneOut says whether numbers that say nothing pass more often than by chance.
func (n NullRun) IsBorneOut() bool { return n.Reproduced > nullLimit }

// JudgeNull runs a figure's checks on two sabotaged series: every number is that
// of a coin, one half but for the noise of 1,024 throws; and, if something was
// measured, in every repeat the values of a metric are dealt again among lines and
// budgets, so that neither a learner nor ε makes a difference. Where the claim is
// about each line by itself, or there is one line at one budget only, values are
// dealt among the line's metrics. A nil s stands for nothing measured.
func (f *Figure) JudgeNull(s *Summary) []NullRun {
	repeats := f.Repeats
	if s != nil {
		repeats = s.Repeats
	}
	coins := replay.Seeded(1, f.Name+", coins")
	out := []NullRun{f.judgeDraws("coin classifiers", func() *Summary { return tossCoins(repeats, coins) })}
	if s != nil {
		dice := replay.Seeded(1, f.Name+", shuffled")
		out = append(out, f.judgeDraws("shuffled lines", func() *Summary { return shuffleLines(s, f.OneClaim, dice) }))
	}
	return out
}

func (f *Figure) judgeDraws(name string, draw func() *Summary) NullRun {
	n := NullRun{Name: name, Draws: nullDraws}
	for range nullDraws {
		all := true
		checks := f.Judge(draw())
		settleWords(checks)
		for _, c := range checks {
			all = all && (c.Holds || c.Later != "")
			if c.Holds {
				n.Held += 1. / nullDraws
			}
		}
		if all {
			n.Reproduced++
		}
	}
	return n
}

// tossCoins has a number for every question.
func tossCoins(repeats int, src rng.Source) *Summary {
	const throws = 1024
	return &Summary{Repeats: repeats, values: map[place][]float64{}, invent: func() []float64 {
		out := make([]float64, repeats)
		for i := range out {
			heads := 0
			for range throws / 64 {
				for w := src.Uint64(); w != 0; w &= w - 1 {
					heads++
				}
			}
			out[i] = float64(heads) / throws
		}
		return out
	}}
}

// shuffleLines deals the values of a repeat among the places they came from.
func shuffleLines(s *Summary, byLine bool, src rng.Source) *Summary {
	places := slices.SortedFunc(maps.Keys(s.values), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.series, b.series), cmp.Compare(a.epsilon, b.epsilon))
	})
	byMetric, ofLine := map[string][]place{}, map[string][]place{}
	for _, p := range places {
		byMetric[p.metric] = append(byMetric[p.metric], p)
		line := p.series + "@" + p.epsilon.String()
		ofLine[line] = append(ofLine[line], p)
	}
	groups := byMetric
	if byLine || len(ofLine) == 1 {
		groups = ofLine
	}
	out := &Summary{Repeats: s.Repeats, values: map[place][]float64{}}
	for _, p := range places {
		out.values[p] = slices.Clone(s.values[p])
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		group := groups[name]
		for r := range s.Repeats {
			for i := len(group) - 1; i > 0; i-- {
				j := int(src.Uint64() % uint64(i+1)) // the bias of 2^-60 does not matter here
				a, b := out.values[group[i]], out.values[group[j]]
				if !math.IsNaN(a[r]) && !math.IsNaN(b[r]) {
					a[r], b[r] = b[r], a[r]
				}
			}
		}
	}
	return out
}

// ListChecks are the checks of a figure, made on invented numbers: what is asked and of
// what, not what came out.
func (f *Figure) ListChecks() []Check { return f.Judge(tossCoins(f.Repeats, replay.Seeded(1, f.Name))) }
