// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// judged is what a judging row brings to a loss: its score, and whether it is positive.
type judged struct {
	score    float64
	positive bool
}

// everyJudge is a grid of rows, scores that no model should give among them.
func everyJudge() (rows []judged) {
	for _, s := range []float64{0, 1e-9, 0.25, 0.5, 1, math.NaN(), -1, 2, math.Inf(1)} {
		rows = append(rows, judged{s, false}, judged{s, true})
	}
	return rows
}

// lossOf is the loss of rows as judgeModel adds it up.
func lossOf(by Loss, rows []judged) *big.Rat {
	label := schema.Label{Positive: 1, Levels: make([]schema.Level, 2)}
	var scores []float64
	var labels, predicted []uint8
	class := map[bool]uint8{true: 1}
	for _, r := range rows {
		scores, labels, predicted = append(scores, r.score), append(labels, class[r.positive]), append(predicted,
			class[r.score >= 0.5])
	}
	var v mech.Ratio
	switch by {
	case LogLoss:
		v = sumLogLosses(scores, labels, &label)
	case AUC:
		v = countWrongPairs(scores, labels, label.Positive)
	default:
		v = countMistakes(predicted, labels)
	}
	return big.NewRat(v.Num, v.Den)
}

// Of all tables of three rows on a grid, replacing any row by any other moves no loss by more
// than one, and some by nearly as much as can be: one, or two thirds for pairs of three rows.
func TestOneRowMovesALossByAtMostOne(t *testing.T) {
	all := everyJudge()
	reach := map[Loss]*big.Rat{LogLoss: big.NewRat(1, 1), AUC: big.NewRat(2, 3), Mistakes: big.NewRat(1, 1)}
	for _, by := range Losses() {
		most := new(big.Rat)
		for _, a := range all {
			for _, b := range all {
				before := make([]*big.Rat, len(all))
				for i, c := range all {
					before[i] = lossOf(by, []judged{c, a, b})
				}
				for i := range before {
					for k := range before {
						if moved := new(big.Rat).Sub(before[i], before[k]); moved.Cmp(most) > 0 {
							most = moved
						}
					}
				}
			}
		}
		if most.Cmp(reach[by]) != 0 {
			t.Errorf("%s: a row moves it by %s, want at most, and sometimes, %s", by, most, reach[by])
		}
	}
}

// Naive twin: pair by pair, and bit by bit.
func TestLossesAreWhatTheySay(t *testing.T) {
	rows := []judged{{0.1, false}, {0.5, true}, {0.5, false}, {0.9, true}, {0.7, false}, {0.001, true}, {0.999, false}}
	pairs, bits := 0.0, 0.0
	for _, a := range rows {
		p := a.score
		if !a.positive {
			p = 1 - p
		}
		bits += min(8, -math.Log2(p)) / 8
		for _, b := range rows {
			switch {
			case !a.positive || b.positive || a.score > b.score:
			case a.score == b.score:
				pairs += 0.5
			default:
				pairs++
			}
		}
	}
	for by, want := range map[Loss]float64{AUC: pairs / float64(len(rows)), LogLoss: bits, Mistakes: 4} {
		if got, _ := lossOf(by, rows).Float64(); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s is %g, want %g", by, got, want)
		}
	}
	if got, _ := lossOf(AUC, nil).Float64(); got != 0 {
		t.Errorf("without rows it is %g", got)
	}
	label := schema.Label{Levels: make([]schema.Level, 3)}
	if got := sumLogLosses([]float64{0.5, 0.25, 0.25, 0, 1, 0}, []uint8{2, 1}, &label); got.Float() != 0.25 {
		t.Errorf("of three classes it is %g", got.Float())
	}
}
