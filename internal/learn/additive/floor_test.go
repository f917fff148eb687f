// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// invent makes a table of public columns and a private label. The logit of a row is base and, times effect, a sum of
// the first six columns, which are normal and cut off at ±3.
func invent(seed uint64, rows, columns int, base, effect float64) *dataset.Table {
	const values = 100
	r := rand.New(rand.NewPCG(seed, 1))
	middle, amounts := 0.0, make([]float64, values)
	for i := range amounts {
		amounts[i] = -3 + 6*(float64(i)+0.5)/values
	}
	t := &dataset.Table{Rows: rows, Labels: make([]uint8, rows), Schema: &schema.Schema{Name: "t", Unit: "one row",
		Relation: dp.ReplaceOne, Dialect: schema.Dialect{Delimiter: ',', Header: true}, Label: schema.Label{Name: "y",
			Role: schema.Private, Levels: []schema.Level{{Value: "no"}, {Value: "yes"}}, Positive: 1, Position: columns}}}
	logits := make([]float64, rows)
	for j := range columns {
		t.Schema.Columns = append(t.Schema.Columns, schema.Column{Name: "c" + strconv.Itoa(j), Role: schema.Public,
			Kind: schema.Number, Lower: -3, Upper: 3, Default: &middle})
		codes := make([]uint32, rows)
		for i := range codes {
			x := max(-2.99, min(2.99, r.NormFloat64()))
			codes[i] = uint32((x + 3) / 6 * values)
			if j < 6 {
				logits[i] += effect * []float64{0.5, 0.4, -0.3, 0.3, -0.2, 0.1}[j] * x
			}
		}
		t.Cols = append(t.Cols, column.Column{Codes: column.Narrow(codes, values), Values: amounts})
	}
	for i, z := range logits {
		if r.Float64() < 1/(1+math.Exp(-base-z)) {
			t.Labels[i] = 1
		}
	}
	return t
}

// A label alone is answered no worse than by the number of its classes at the same price: few rows and many columns
// leave their shares, not noise. Three standard errors of the mean of the fits and .003 are left for chance; seeds are
// fixed, so it never fails by it.
func TestLabelsAloneAreNoWorseThanShares(t *testing.T) {
	type cell struct {
		rows, columns int
		eps, delta    float64
		base, effect  float64
	}
	cells, fits := []cell{{600, 60, 0.1, 0, -2.2, 1}, {100, 3, 0.1, 0, -1, 1}, {800, 2, 0.1, 0, -1, 0}}, 4
	if size.Long() {
		fits = 10
		for _, rows := range []int{100, 652, 3000, 10_000} {
			for _, columns := range []int{2, 5, 20, 60} {
				for _, eps := range []float64{0.01, 0.03, 0.1, 0.3, 1} {
					for _, effect := range []float64{0, 1} {
						if rows*columns <= 100_000 {
							cells = append(cells, cell{rows, columns, eps, 0, -2.2, effect}, cell{rows, columns, eps, 1e-6, -1, effect})
						}
					}
				}
			}
		}
	}
	for _, c := range cells {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			test := invent(1, 4000, c.columns, c.base, c.effect)
			var off, square float64
			for k := range fits {
				tab := invent(uint64(2+k), c.rows, c.columns, c.base, c.effect)
				scores := scoreFit(t, tab, test, c.eps, c.delta, uint64(k))
				x := meanLoss(test.Labels, scores) - meanLoss(test.Labels, []float64{releaseShare(tab.Labels, c.eps, uint64(k))})
				off, square = off+x/float64(fits), square+x*x/float64(fits)
			}
			if most := 0.003 + 3*math.Sqrt(max(0, square-off*off)/float64(fits-1)); off > most {
				t.Errorf("log loss %.4f above that of shares, at most %.4f", off, most)
			}
		})
	}
}

// Beside a public label the mean of all scores is the known share of the positive class, however rare that is and however
// much noise there is: within a tenth of the rarer class from ε = .3 on. Seeds are fixed, so it never fails by chance.
func TestMeanScoreIsTheKnownRate(t *testing.T) {
	type cell struct {
		rows, columns, public int
		eps, delta, base      float64
	}
	cells, fits := []cell{{6000, 8, 4, 0.3, 0, -3.5}, {6000, 8, 4, 0.3, 1e-6, -3.5}}, 2
	if size.Long() {
		fits = 6
		for _, rows := range []int{3000, 20_000} {
			for _, public := range []int{0, 5} {
				for _, eps := range []float64{0.3, 1, 3} {
					cells = append(cells, cell{rows, 10, public, eps, 0, -3.5}, cell{rows, 10, public, eps, 1e-6, -1})
				}
			}
		}
	}
	for _, c := range cells {
		off := 0.0
		for k := range fits {
			tab := invent(uint64(2+k), c.rows, c.columns, c.base, 1.5)
			tab.Schema.Label.Role = schema.Public
			for j := range tab.Schema.Columns {
				if c.public == 0 || j%(c.columns/c.public) > 0 {
					tab.Schema.Columns[j].Role = schema.Private
				}
			}
			scores := scoreFit(t, tab, tab, c.eps, c.delta, uint64(k))
			mean, rate := 0.0, 0.0
			for i, p := range scores {
				mean, rate = mean+p/float64(c.rows), rate+float64(tab.Labels[i])/float64(c.rows)
			}
			off += math.Abs(mean-rate) / math.Min(rate, 1-rate) / float64(fits)
		}
		if off > 0.1 {
			t.Errorf("%+v: the mean score is off by %.2f of the rarer class", c, off)
		}
	}
}

// scoreFit trains on a table and returns the scores of the rows of another.
func scoreFit(t *testing.T, tab, rows *dataset.Table, eps, delta float64, seed uint64) []float64 {
	t.Helper()
	p := Params{}
	p.Epsilon, _ = dp.EpsilonOf(eps)
	p.Delta, _ = dp.DeltaOf(delta)
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := learntest.Fit(t, pl, tab, nil, seed).Scores(rows.Cols, rows.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// meanLoss is the log loss of scores, or of one for all rows.
func meanLoss(labels []uint8, scores []float64) (mean float64) {
	for i, y := range labels {
		p := scores[i%len(scores)]
		if y == 0 {
			p = 1 - p
		}
		mean -= math.Log(max(p, 1e-15)) / float64(len(labels))
	}
	return mean
}

// releaseShare is the share of the positive class that its number says if all of ε is paid for that.
func releaseShare(labels []uint8, eps float64, seed uint64) float64 {
	r, count := rand.New(rand.NewPCG(seed, 7)), 0.0
	for _, y := range labels {
		count += float64(y)
	}
	count += (r.ExpFloat64() - r.ExpFloat64()) / eps
	rows := float64(len(labels))
	return shrink.Shares([]float64{count, rows - count}, rows, false, func(float64) float64 { return math.Sqrt2 / eps })[0]
}
