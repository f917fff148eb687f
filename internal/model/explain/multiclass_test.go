// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ofClasses is a model of a label of four levels, and the table it was fitted to.
func ofClasses(t *testing.T) (*model.Model, *Explanation) {
	t.Helper()
	tab := learntest.Levels(censustest.Table(5, 3_000), 4, nil)
	pl, err := additive.Params{Epsilon: 20 * dp.Nano}.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	e, err := Of(m)
	if err != nil {
		t.Fatal(err)
	}
	return m, e
}

func TestClassStepsAreCentredAndOrdered(t *testing.T) {
	m, e := ofClasses(t)
	shapes := m.Classifier.(*model.MulticlassAdditive).Shapes
	if len(e.Starts) != 4 || len(e.ClassShapes) != len(shapes) || e.Link != model.Softmax {
		t.Fatalf("%d starts, %d shapes, link %q", len(e.Starts), len(e.ClassShapes), e.Link)
	}
	chances := 0.0
	for _, s := range e.Starts {
		chances += s.Probability
	}
	if math.Abs(chances-1) > 1e-12 {
		t.Errorf("the probabilities of the start add up to %g", chances)
	}
	for i, sh := range e.ClassShapes {
		if i > 0 && sh.Importance > e.ClassShapes[i-1].Importance {
			t.Errorf("column %s stands behind a less important one", sh.Column)
		}
		own := shapes[slices.IndexFunc(shapes, func(o model.ClassShape) bool { return o.Column == sh.Column })]
		for b, bin := range sh.Bins {
			sum := 0.0
			for k, z := range bin.LogShares {
				sum += z
				if d := z - bin.LogShares[0]; math.Abs(d-(own.LogShares[k][b]-own.LogShares[0][b])) > 1e-12 {
					t.Errorf("column %s, bin %d: class %d is %g above class 0", sh.Column, b, k, d)
				}
			}
			if math.Abs(sum) > 1e-12 {
				t.Errorf("column %s, bin %d adds up to %g", sh.Column, b, sum)
			}
		}
	}
}

// Contributions and the centred intercept add up to a class's log score beyond
// the mean of all classes.
func TestClassContributionsAddUpToTheScores(t *testing.T) {
	m, e := ofClasses(t)
	tab := learntest.Levels(censustest.Table(6, 200), 4, nil)
	p, err := m.Bind(tab.Schema)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := p.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	own := tab.Cols[:0:0]
	for _, c := range m.Schema.Columns {
		j := slices.IndexFunc(tab.Schema.Columns, func(o schema.Column) bool { return o.Name == c.Name })
		own = append(own, tab.Cols[j])
	}
	parts, err := Contributions(m, own)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tab.Rows {
		logs := make([]float64, 4)
		for k := range logs {
			logs[k] = math.Log(scores[4*i+k])
		}
		for k, want := range centreValues(logs) {
			got := e.Starts[k].LogShare
			for q := range parts {
				got += parts[q].At(i, uint8(k))
			}
			if math.Abs(got-want) > 1e-5 {
				t.Fatalf("row %d, class %d: %g, the score says %g", i, k, got, want)
			}
		}
	}
}

func TestMulticlassPage(t *testing.T) {
	m, e := ofClasses(t)
	var b bytes.Buffer
	if err := e.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, sh := range e.ClassShapes {
		if !strings.Contains(text, ">"+sh.Column+"</h3>") {
			t.Errorf("column %s is not on the page", sh.Column)
		}
	}
	for _, want := range []string{"level 3</th>", "± ", "adds to a class", `class="n up1"`, `class="n down1"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	var refused *dp.ParamError
	if err := CanBracket("predict --interval", m); !errors.As(err, &refused) {
		t.Errorf("intervals of four levels: %v", err)
	}
	if err := CanSplit("predict --explain", m); err != nil {
		t.Error(err)
	}
}

func TestTint(t *testing.T) {
	for z, want := range map[float64]string{0: "", 0.3: "", 0.7: "up1", -0.7: "down1", 1.4: "up2", -40: "down6"} {
		if got := tintOf(z); got != want {
			t.Errorf("%g nats have the tint %q, want %q", z, got, want)
		}
	}
}
