// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
)

// Forecast is the expected accuracy of the first round's reports on one question.
type Forecast struct {
	Column    string `json:"column"`
	Cells     int    `json:"cells"` // number of cells, by level of the label
	Mechanism string `json:"mechanism"`
	Owners    int    `json:"owners"` // expected number of owners asked
	// Noise is the standard deviation, due to the mechanism, of the estimated share of all records in
	// one cell.
	Noise float64 `json:"noise"`
	// Reach is the largest change of that share that one dishonest owner can cause.
	Reach float64 `json:"reach"`
}

// Forecasts computes the expected accuracy of a task's questions for the given number of owners,
// without data.
func Forecasts(t *wire.Task, owners int) ([]Forecast, error) {
	out := make([]Forecast, len(t.Questions))
	for q := range out {
		law, err := t.Law(t.Cells(q))
		if err != nil {
			return nil, err
		}
		asked := float64(owners) * tablesOf(t) / float64(len(t.Questions))
		f := Forecast{Column: t.Questions[q].Column, Cells: law.Dim(), Mechanism: law.Name(), Owners: int(asked),
			Noise: 1, Reach: 1}
		if asked >= 1 {
			f.Noise, f.Reach = min(1, math.Sqrt(law.Variance(0)/asked)), min(1, law.Reach()/asked)
		}
		out[q] = f
	}
	return out, nil
}

// OwnersFor returns the number of owners for which Noise is at most noise, in (0, 1], in every
// question of a task's first round.
func OwnersFor(t *wire.Task, noise float64) (int, error) {
	need := 0.0
	for q := range t.Questions {
		law, err := t.Law(t.Cells(q))
		if err != nil {
			return 0, err
		}
		need = max(need, law.Variance(0)/(noise*noise))
	}
	return int(math.Ceil(need * float64(len(t.Questions)) / tablesOf(t))), nil
}

// tablesOf returns the share of all owners in the first round's tables.
func tablesOf(t *wire.Task) float64 {
	sum := 0.0
	for _, r := range t.Rounds {
		sum += float64(r.Table) + float64(r.Error)
	}
	return float64(t.Rounds[0].Table) / sum
}
