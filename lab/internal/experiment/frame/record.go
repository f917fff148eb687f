// SPDX-License-Identifier: Apache-2.0

package frame

import "github.com/discreet-dp/discreet/internal/ground/dp"

// Record is one measured number with everything needed to measure it again:
// one line of records.jsonl.
type Record struct {
	Figure     string   `json:"figure"`
	Data       string   `json:"data"`
	Series     string   `json:"series"`
	Epsilon    *float64 `json:"epsilon"` // null if the fit has none
	Repeat     int      `json:"repeat"`
	Seed       uint64   `json:"seed"`
	Encoding   string   `json:"encoding,omitempty"`
	Parameters string   `json:"parameters,omitempty"`
	Metric     string   `json:"metric"`
	Value      float64  `json:"value"`
	Bill       float64  `json:"bill"`             // ε paid; 0 for a fit without privacy
	Commit     string   `json:"commit,omitempty"` // of the program, if it was built from a checkout
	Code       string   `json:"code,omitempty"`   // digest of what the figure depends on, see Options
}

// cell says which point of which repeat a record belongs to.
type cell struct {
	figure string
	data   string
	point  Point
	repeat int
	seed   uint64
}

// cellOf is false for a record that no program of ours can have written.
func (r *Record) cellOf() (cell, bool) {
	c := cell{r.Figure, r.Data, Point{r.Series, 0, r.Encoding, r.Parameters}, r.Repeat, r.Seed}
	if r.Epsilon == nil {
		return c, true
	}
	var err error
	c.point.Epsilon, err = dp.EpsilonOf(*r.Epsilon)
	return c, err == nil
}

// recordsOf are the lines of one measured cell.
func (c cell) recordsOf(m Measurement, commit, code string) (out []Record) {
	var eps *float64
	if c.point.Epsilon > 0 {
		f := c.point.Epsilon.Float()
		eps = &f
	}
	for _, v := range m.Values {
		out = append(out, Record{
			Figure: c.figure, Data: c.data, Series: c.point.Series, Epsilon: eps, Repeat: c.repeat, Seed: c.seed,
			Encoding: c.point.Encoding, Parameters: c.point.Parameters,
			Metric: v.Metric, Value: v.Value, Bill: m.Bill.Float(), Commit: commit, Code: code,
		})
	}
	return out
}
