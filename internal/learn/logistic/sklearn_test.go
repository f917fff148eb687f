// SPDX-License-Identifier: Apache-2.0

package logistic

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// peerCase is one table and scikit-learn's optimum on it, as
// lab/peers/sklearn/logistic.py writes them.
type peerCase struct {
	Name     string
	Encoding feature.Encoding
	Reg      float64
	Columns  []struct {
		Kind         schema.Kind
		Lower, Upper float64
		Log1p        bool
		Levels       int
		Missing      bool
		Cells        []float64
	}
	Labels  []int
	Weights []float64
	Coef    []float64
	Loss    float64
}

func readPeers(t *testing.T, path string) []peerCase {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []peerCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatalf("%s holds no case", path)
	}
	return file.Cases
}

// groups makes every row of the case a group of its own.
func (p *peerCase) groups(t *testing.T) (sp *feature.Space, g *engine.Groups, pos, neg []float64) {
	t.Helper()
	s := &schema.Schema{}
	g = &engine.Groups{Len: len(p.Labels)}
	var cols []int
	for j, c := range p.Columns {
		sc := schema.Column{Name: strconv.Itoa(j), Kind: c.Kind, Lower: c.Lower, Upper: c.Upper, Missing: c.Missing}
		if c.Log1p {
			sc.Transform = schema.Log1p
		}
		for l := range c.Levels {
			sc.Levels = append(sc.Levels, schema.Level{Value: strconv.Itoa(l)})
		}
		col, codes := column.Column{}, make([]uint32, len(c.Cells))
		n := sc.Codes()
		if c.Kind == schema.Number {
			col.Values = slices.Compact(slices.Sorted(slices.Values(c.Cells)))
			n = len(col.Values)
		}
		for i, cell := range c.Cells {
			codes[i] = uint32(cell)
			if c.Kind == schema.Number {
				code, _ := slices.BinarySearch(col.Values, cell)
				codes[i] = uint32(code)
			}
		}
		col.Codes = column.Narrow(codes, n)
		s.Columns, g.Cols, cols = append(s.Columns, sc), append(g.Cols, col), append(cols, j)
	}
	sp, err := feature.NewSpace(s, p.Encoding, cols)
	if err != nil {
		t.Fatal(err)
	}
	pos, neg = make([]float64, g.Len), make([]float64, g.Len)
	for i, label := range p.Labels {
		if label == 1 {
			pos[i] = p.Weights[i]
		} else {
			neg[i] = p.Weights[i]
		}
	}
	return sp, g, pos, neg
}

// The committed cases always run; those in the directory DISCREET_SKLEARN, made
// by make -C lab/peers/sklearn check, run if it is set.
func TestFitAgreesWithScikitLearn(t *testing.T) {
	files := []string{filepath.Join("testdata", "sklearn.json")}
	if dir := os.Getenv("DISCREET_SKLEARN"); dir != "" {
		fresh, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(fresh) == 0 {
			t.Fatalf("no case in DISCREET_SKLEARN=%s", dir)
		}
		files = append(files, fresh...)
	}
	for _, file := range files {
		for _, p := range readPeers(t, file) {
			t.Run(filepath.Base(file)+"/"+p.Name, func(t *testing.T) { p.compare(t) })
		}
	}
}

func (p *peerCase) compare(t *testing.T) {
	ctx := context.Background()
	sp, g, pos, neg := p.groups(t)
	total := 0.0
	for _, w := range p.Weights {
		total += w
	}
	// The same point has the same loss: encodings and objective are the same.
	s, err := kernel.LogisticSums(ctx, sp, g.Cols, g.Len, kernel.GroupWeights(pos, neg), p.Coef)
	if err != nil {
		t.Fatal(err)
	}
	if there := penalisedMean(s, total, p.Reg, p.Coef).Value; !(math.Abs(there-p.Loss) < 1e-12) {
		t.Errorf("the loss at scikit-learn's optimum is %.15g here and %.15g there", there, p.Loss)
	}
	// The optima have the same loss.
	best, err := FitGroups(ctx, sp, g, pos, neg, p.Reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("loss %.12f, scikit-learn's %+.2g, gradient %.2g, %d steps", best.Loss, p.Loss-best.Loss, best.GradNorm,
		best.Steps)
	if !(math.Abs(best.Loss-p.Loss) < 1e-9) {
		t.Errorf("the least loss is %.15g here and %.15g there", best.Loss, p.Loss)
	}
	if !(best.GradNorm <= limits.GradNorm) {
		t.Errorf("the gradient is %g, want at most %g", best.GradNorm, limits.GradNorm)
	}
}
