// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// LevelShape is the step functions of one column, one per level of the label.
type LevelShape struct {
	Column string      `json:"column"`
	Kind   schema.Kind `json:"kind"`
	Role   schema.Role `json:"role"`
	// These are as Shape's.
	Derived   schema.Derivation `json:"derived,omitempty"`
	Sources   []string          `json:"sources,omitempty"`
	Protected bool              `json:"protected"`
	// Importance is the mean of |log-share| over bins and levels, each counted once.
	Importance float64    `json:"importance"`
	Bins       []LevelBin `json:"bins"`
}

// LevelBin is one step. What it adds is centred: to a level beyond the mean of
// all levels, so that the numbers of a bin add up to 0.
type LevelBin struct {
	Level      string    `json:"level,omitempty"` // of a category, as Bin's
	From       *float64  `json:"from,omitempty"`
	To         *float64  `json:"to,omitempty"`
	LogShares  []float64 `json:"log_shares"`   // one per level of the label
	Deviations []float64 `json:"posterior_sd"` // as Bin's
}

// Start is where every row starts for one level: the centred intercept, and the
// probability where all else adds nothing.
type Start struct {
	Level       string  `json:"level"`
	LogShare    float64 `json:"log_share"`
	Probability float64 `json:"probability"`
}

func (e *Explanation) additiveLevels(m *model.Model) {
	e.Link = model.Softmax
	centred, sum := centreValues(m.AdditiveLevels.Intercepts), 0.0
	for _, z := range centred {
		sum += math.Exp(z)
	}
	for k, level := range m.Schema.Label.Levels {
		e.Starts = append(e.Starts, Start{level.Value, centred[k], math.Exp(centred[k]) / sum})
	}
	for i := range m.AdditiveLevels.Shapes {
		sh := &m.AdditiveLevels.Shapes[i]
		c := &m.Schema.Columns[columnOf(m, sh.Column)]
		out := LevelShape{Column: c.Name, Kind: c.Kind, Role: c.Role, Derived: c.Derived, Sources: m.Schema.Sources(c), Protected: protectsRole(m.Privacy.Scope, c.Role)}
		for b := range sh.LogShares[0] {
			bin := LevelBin{}
			if c.Kind == schema.Category {
				bin.Level = c.CodeName(b)
			} else {
				bin.From, bin.To = &c.Lower, &c.Upper
				if b > 0 {
					bin.From = &sh.Edges[b-1]
				}
				if b < len(sh.Edges) {
					bin.To = &sh.Edges[b]
				}
			}
			steps := make([]float64, len(sh.LogShares))
			for k := range steps {
				steps[k] = sh.LogShares[k][b]
				bin.Deviations = append(bin.Deviations, sh.Noise[k][b])
			}
			bin.LogShares = centreValues(steps)
			out.Importance += meanSize(bin.LogShares) / float64(len(sh.LogShares[0]))
			out.Bins = append(out.Bins, bin)
		}
		e.LevelShapes = append(e.LevelShapes, out)
	}
	slices.SortStableFunc(e.LevelShapes, func(a, b LevelShape) int {
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(columnOf(m, a.Column), columnOf(m, b.Column)))
	})
}

// centreValues takes the mean off. A softmax does not see it.
func centreValues(z []float64) []float64 {
	mean := 0.0
	for _, x := range z {
		mean += x / float64(len(z))
	}
	out := make([]float64, len(z))
	for k, x := range z {
		out[k] = x - mean
	}
	return out
}

// LevelContribution is what one column adds to each level's score of each row.
type LevelContribution struct {
	Column string
	levels int
	codes  *column.Codes
	byCode []float64 // by code, then level; centred
}

// At is the contribution to a row for a level, in nats beyond the mean of all
// levels: those of all columns and the centred intercept add up to the logarithm
// of the level's score beyond the mean logarithm of all levels' scores, but for
// the rounding of steps.
func (c *LevelContribution) At(row int, level uint8) float64 {
	return c.byCode[int(c.codes.At(row))*c.levels+int(level)]
}

// LevelContributions is Contributions of an additive model of more than two
// levels.
func LevelContributions(m *model.Model, cols []column.Column) ([]LevelContribution, error) {
	if m.AdditiveLevels == nil {
		return nil, explainError("predict --explain", m)
	}
	if _, err := m.Bind(m.Schema); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	levels := len(m.AdditiveLevels.Intercepts)
	out := make([]LevelContribution, 0, len(m.AdditiveLevels.Shapes))
	for j := range m.Schema.Columns {
		for i := range m.AdditiveLevels.Shapes {
			sh := &m.AdditiveLevels.Shapes[i]
			if sh.Column != m.Schema.Columns[j].Name {
				continue
			}
			bins := feature.NewBins(m.Schema, j, sh.Edges)
			c := LevelContribution{Column: sh.Column, levels: levels, codes: &cols[j].Codes}
			for _, b := range bins.ByCode(&cols[j]) {
				steps := make([]float64, levels)
				for k := range steps {
					steps[k] = roundToScore(sh.LogShares[k][b])
				}
				c.byCode = append(c.byCode, centreValues(steps)...)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// CanBracket refuses intervals for a model of more than two levels.
func CanBracket(op string, m *model.Model) error {
	if m.AdditiveLevels != nil {
		return &dp.ParamError{Op: op, Param: "model", Want: "must be of a label of two levels: of more, an interval for each score would not say what they do together", Got: fmt.Sprintf("one of %d levels", m.Schema.Classes()),
			Hint: "explain draws how far noise may have moved each step"}
	}
	return CanSplit(op, m)
}

// levelFigure is a column of the page, one cell per bin and level.
type levelFigure struct {
	*LevelShape
	ID     string
	Source string
	Share  float64 // of the most important column's importance, percent
	Rows   []levelRow
	Banded bool
}

type levelRow struct {
	Name  string
	Cells []levelCell
}

type levelCell struct {
	LogShare, Deviation float64
	Tint                string // class of the cell
}

// tints is how many shades there are on each side of zero; one more for each
// doubling of the odds, the last for all beyond.
const tints = 6

func tintOf(z float64) string {
	shade := int(math.Round(math.Abs(z) / math.Ln2))
	switch {
	case shade == 0:
		return ""
	case z > 0:
		return "up" + strconv.Itoa(min(shade, tints))
	}
	return "down" + strconv.Itoa(min(shade, tints))
}

func (e *Explanation) levelFigures() (out []levelFigure) {
	for i := range e.LevelShapes {
		sh := &e.LevelShapes[i]
		f := levelFigure{LevelShape: sh, ID: "column-" + strconv.Itoa(i+1)}
		if most := e.LevelShapes[0].Importance; most > 0 {
			f.Share = 100 * sh.Importance / most
		}
		for _, b := range sh.Bins {
			row := levelRow{Name: b.Level}
			if b.From != nil {
				row.Name = briefNumber(*b.From) + " … " + briefNumber(*b.To)
			}
			for k, z := range b.LogShares {
				row.Cells = append(row.Cells, levelCell{z, b.Deviations[k], tintOf(z)})
				f.Banded = f.Banded || b.Deviations[k] > 0
			}
			f.Rows = append(f.Rows, row)
		}
		f.Source = e.describeSource(sh.Protected, string(sh.Role), f.Banded)
		out = append(out, f)
	}
	return out
}
