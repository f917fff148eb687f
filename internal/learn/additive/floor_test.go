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

// A public label with one class only, with any ε, trains like any other.
func TestOneClassOfPublicLabels(t *testing.T) {
	for _, eps := range []float64{0.01, 1, 1000} {
		for label := range uint8(2) {
			tab := inventCopies(1, 60_000, 2)
			tab.Schema.Columns[0].Role = schema.Public
			for i := range tab.Labels {
				tab.Labels[i] = label
			}
			for i, p := range scoreFit(t, tab, tab, eps, 0, 1) {
				if !(p > 0 && p < 1) {
					t.Fatalf("ε = %g, label %d: row %d scores %g", eps, label, i, p)
				}
			}
		}
	}
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

// Under add-remove nobody need declare rows, and 100 are answered nearly as by their shares. While every column added the
// balance that its noise had, log loss was .8 above. Seeds are fixed, so it never fails by chance.
func TestUndeclaredRowsAreNearShares(t *testing.T) {
	test, off := invent(1, 2000, 5, -1, 1), 0.0
	const fits = 8
	for k := range fits {
		tab := invent(uint64(2+k), 100, 5, -1, 1)
		tab.Schema.Relation, tab.Schema.Label.Default = dp.AddRemove, 0
		for j := range tab.Schema.Columns {
			tab.Schema.Columns[j].Role = schema.Private
		}
		p := Params{Epsilon: dp.Nano / 10}
		pl, err := p.Plan(tab.Schema, 0)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := learntest.Fit(t, pl, tab, nil, uint64(k)).Scores(test.Cols, test.Rows)
		if err != nil {
			t.Fatal(err)
		}
		off += (meanLoss(test.Labels, scores) - meanLoss(test.Labels, []float64{releaseShare(tab.Labels, 0.1, uint64(k))})) / fits
	}
	if off > 0.15 {
		t.Errorf("log loss %.3f above that of shares", off)
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

// inventApart is inventCopies with three tenths of the rows apart in all columns, of which one in a hundred is positive.
func inventApart(seed uint64, rows, columns int) *dataset.Table {
	tab := inventCopies(seed, rows, columns)
	r, apart := rand.New(rand.NewPCG(seed, 3)), make([]bool, rows)
	for i := range rows {
		apart[i] = r.Float64() < 0.3
		tab.Labels[i] = 0
		if r.Float64() < map[bool]float64{true: 0.01, false: 0.6}[apart[i]] {
			tab.Labels[i] = 1
		}
	}
	for j := range columns {
		codes, values := make([]uint32, rows), len(tab.Cols[j].Values)
		for i := range codes {
			x := 0.7 + 0.6*r.NormFloat64() + 0.4*(float64(tab.Labels[i])-0.5)
			if apart[i] {
				x = -2 + 0.3*r.NormFloat64()
			}
			codes[i] = uint32((max(-2.99, min(2.99, x)) + 3) / 6 * float64(values))
		}
		tab.Cols[j].Codes = column.Narrow(codes, values)
	}
	return tab
}

// Where public and private columns tell the same rows apart, the mean of all scores is the known share, too. While their
// sums counted as independent, it was off by .033 of the rarer class. Seeds are fixed, so it never fails by chance.
func TestMeanScoreOfColumnsThatGoTogether(t *testing.T) {
	fits := size.Of(3, 20)
	for _, eps := range []float64{1, 3} {
		off := 0.0
		for k := range fits {
			tab := inventApart(uint64(2+k), 6000, 8)
			mean, rate := 0.0, 0.0
			for i, p := range scoreFit(t, tab, tab, eps, 0, uint64(k)) {
				mean, rate = mean+p/float64(tab.Rows), rate+float64(tab.Labels[i])/float64(tab.Rows)
			}
			off += (mean - rate) / rate / float64(fits)
		}
		if math.Abs(off) > 0.02 {
			t.Errorf("ε = %g: the mean score is off by %+.3f of the rarer class", eps, off)
		}
	}
}

// Where no column says anything, many of them with little noise leave the known share of the classes: what their bins say
// by chance, they say of the same rows that calibrate them. Log loss was .023 above. Seeds are fixed, so it never fails by
// chance.
func TestColumnsThatSayNothingAreNoWorseThanShares(t *testing.T) {
	test, off, fits := invent(1, 4000, 32, -1, 0), 0.0, size.Of(2, 12)
	for k := range fits {
		tab := invent(uint64(2+k), 2000, 32, -1, 0)
		for j := range tab.Schema.Columns {
			tab.Schema.Columns[j].Role = schema.Private
		}
		x := meanLoss(test.Labels, scoreFit(t, tab, test, 10, 1e-6, uint64(k)))
		off += (x - meanLoss(test.Labels, []float64{releaseShare(tab.Labels, 10, uint64(k))})) / float64(fits)
	}
	if off > 0.012 {
		t.Errorf("log loss %.4f above that of the shares", off)
	}
}

// inventCopies is a table in which all columns say the same of the label, as far as each says anything, and every second is
// public, as the label is.
func inventCopies(seed uint64, rows, columns int) *dataset.Table {
	tab := invent(seed, rows, columns, 0, 0)
	tab.Schema.Label.Role = schema.Public
	r, latent := rand.New(rand.NewPCG(seed, 2)), make([]float64, rows)
	for i := range latent {
		latent[i] = r.NormFloat64()
		tab.Labels[i] = 0
		if r.Float64() < 1/(1+math.Exp(1-1.5*latent[i])) {
			tab.Labels[i] = 1
		}
	}
	for j := range columns {
		if j%2 == 1 {
			tab.Schema.Columns[j].Role = schema.Private
		}
		codes, values := make([]uint32, rows), len(tab.Cols[j].Values)
		for i := range codes {
			x := max(-2.99, min(2.99, math.Sqrt(0.4)*latent[i]+math.Sqrt(0.6)*r.NormFloat64()))
			codes[i] = uint32((x + 3) / 6 * float64(values))
		}
		tab.Cols[j].Codes = column.Narrow(codes, values)
	}
	return tab
}

// What public and private columns both say counts once: a line through the log-odds of fresh rows has a slope near 1,
// with few rows for the public columns, too. Seeds are fixed, so it never fails by chance.
func TestWholeScoreIsCalibrated(t *testing.T) {
	type cell struct {
		rows, columns int
		eps, delta    float64
	}
	cells, fits := []cell{{800, 40, 1, 0}, {6000, 6, 3, 0}}, 2
	if size.Long() {
		fits = 8
		for _, rows := range []int{800, 5000, 20_000} {
			for _, columns := range []int{6, 20, 60} {
				cells = append(cells, cell{rows, columns, 0.3, 0}, cell{rows, columns, 1, 0}, cell{rows, columns, 3, 1e-6})
			}
		}
	}
	for _, c := range cells {
		slope, fresh := 0.0, inventCopies(1, 6000, c.columns)
		for k := range fits {
			tab := inventCopies(uint64(2+k), c.rows, c.columns)
			slope += slopeOf(fresh.Labels, scoreFit(t, tab, fresh, c.eps, c.delta, uint64(k))) / float64(fits)
		}
		t.Logf("%+v: %.3f", c, slope)
		if !(slope > 0.82 && slope < 1.15) {
			t.Errorf("%+v: slope %.3f", c, slope)
		}
	}
}

// Where private columns say the same and weights see none of them, only the calibration can tell how often they say it, so
// that it has more of the price. With no more than elsewhere the slope was .61. Seeds are fixed, so it never fails by chance.
func TestColumnsThatWeightsDoNotSeeAreCalibrated(t *testing.T) {
	const columns, fits = 8, 6
	slope, fresh := 0.0, inventCopies(1, 6000, columns)
	for k := range fits {
		tab := inventCopies(uint64(2+k), 6000, columns)
		for j := 2; j < columns; j++ {
			tab.Schema.Columns[j].Role = schema.Private
		}
		slope += slopeOf(fresh.Labels, scoreFit(t, tab, fresh, 0.6, 0, uint64(k))) / fits
	}
	if !(slope > 0.7 && slope < 1.15) {
		t.Errorf("slope %.3f", slope)
	}
}

// One public column whose bins have few scores, most rows at one of them, trains like any other.
func TestFewScoresOfPublicColumns(t *testing.T) {
	for _, shares := range [][]float64{{0.9, 0.05, 0.05}, {0.05, 0.9, 0.05}, {0.02, 0.08, 0.9}, {1, 0, 0}, {0.5, 0.5, 0}} {
		tab := inventCopies(1, 600, 2)
		c := &tab.Schema.Columns[0]
		*c = schema.Column{Name: c.Name, Role: schema.Public, Kind: schema.Category,
			Levels: []schema.Level{{Value: "a"}, {Value: "b"}, {Value: "c"}}}
		codes := make([]uint32, tab.Rows)
		for i := range codes {
			at := float64(i*7%tab.Rows) / float64(tab.Rows)
			for at >= shares[0] && codes[i] < 2 {
				if codes[i]++; at < shares[0]+shares[1] {
					break
				}
			}
		}
		tab.Cols[0] = column.Column{Codes: column.Narrow(codes, 3)}
		for i, p := range scoreFit(t, tab, tab, 1, 0, 1) {
			if !(p > 0 && p < 1) {
				t.Fatalf("%v: row %d scores %g", shares, i, p)
			}
		}
	}
}

// A weaker promise costs no log loss: the label alone or half of the columns, against everything private, which promises
// more, where columns overlap. Seeds are fixed, so it never fails by chance.
func TestProtectingLessCostsNothing(t *testing.T) {
	type cell struct {
		partly        bool
		rows, columns int
		eps, delta    float64
	}
	cells, fits := []cell{{false, 2000, 5, 1, 1e-6}, {false, 800, 20, 0.3, 1e-6}, {false, 1000, 5, 0.1, 0}, {true, 3000, 8, 1, 0}}, 8
	if size.Long() {
		fits = 20
		for _, rows := range []int{1000, 10_000} {
			for _, eps := range []float64{0.1, 0.3, 1, 3} {
				for _, delta := range []float64{0, 1e-6} {
					cells = append(cells, cell{false, rows, 5, eps, delta}, cell{true, rows, 5, eps, delta}, cell{true, rows, 20, eps, delta})
				}
			}
		}
	}
	for _, c := range cells {
		off, square, fresh := 0.0, 0.0, inventCopies(1, 4000, c.columns)
		for k := range fits {
			tab := inventCopies(uint64(2+k), c.rows, c.columns)
			loss := func() float64 {
				return meanLoss(fresh.Labels, scoreFit(t, tab, fresh, c.eps, c.delta, uint64(k)))
			}
			if !c.partly {
				openAll(tab.Schema)
			}
			x := loss()
			closeAll(tab.Schema)
			tab.Schema.Label.Role = schema.Private
			x -= loss()
			off, square = off+x/float64(fits), square+x*x/float64(fits)
		}
		t.Logf("%+v: %+.4f", c, off)
		if most := 0.003 + 3*math.Sqrt(max(0, square-off*off)/float64(fits-1)); off > most {
			t.Errorf("%+v: log loss %.4f above that of everything private, at most %.4f", c, off, most)
		}
	}
}

// openAll makes all columns public and the label private.
func openAll(s *schema.Schema) {
	s.Label.Role = schema.Private
	for j := range s.Columns {
		s.Columns[j].Role = schema.Public
	}
}

// slopeOf is the slope of a logistic regression of labels on the log-odds of scores.
func slopeOf(labels []uint8, scores []float64) float64 {
	slope, shift := 1.0, 0.0
	for range 20 {
		var g, h [3]float64
		for i, p := range scores {
			z := math.Log(p / (1 - p))
			q := 1 / (1 + math.Exp(-slope*z-shift))
			off, w := float64(labels[i])-q, q*(1-q)
			g[0], g[1] = g[0]+off, g[1]+off*z
			h[0], h[1], h[2] = h[0]+w, h[1]+w*z, h[2]+w*z*z
		}
		by := h[0]*h[2] - h[1]*h[1]
		slope, shift = slope+(h[0]*g[1]-h[1]*g[0])/by, shift+(h[2]*g[0]-h[1]*g[1])/by
	}
	return slope
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
