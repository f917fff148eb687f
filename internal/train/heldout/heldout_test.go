// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func plain(_ dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
	return logistic.Params{Encoding: feature.OneHot, Columns: nonprivate.All, NotPrivate: true}.Plan(s, rows)
}

// The curves of a page are those of its numbers: the area below the ROC curve is the AUC, but for what lies
// between its points.
func TestCurvesAreOfTheNumbers(t *testing.T) {
	tab := censustest.Table(7, 2000)
	rows, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := plain(0, tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	m, err := guard.Train(t.Context(), pl, rows, guard.Uncounted{}, mech.NewExit(rng.System()))
	if err != nil {
		t.Fatal(err)
	}
	e, err := Evaluate(m, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	charts := e.charts()
	roc := charts[1].Lines[0]
	area, last := 0.0, len(roc.X)-1
	for i := range last {
		area += (roc.X[i+1] - roc.X[i]) * (roc.Y[i+1] + roc.Y[i]) / 2
	}
	if math.Abs(area-*e.AUC) > 0.005 || math.Abs(roc.X[last]-1) > 1e-9 || math.Abs(roc.Y[last]-1) > 1e-9 {
		t.Errorf("%s: the area is %g up to (%g, %g), the AUC %g", charts[1].Title, area, roc.X[last], roc.Y[last], *e.AUC)
	}
	var page bytes.Buffer
	if err := e.WriteHTML(&page); err != nil || strings.Count(page.String(), "<svg viewBox=") != 4 ||
		!strings.Contains(page.String(), `<p class="alarm">NOT PRIVATE.`) || !strings.Contains(page.String(), "SHA-256: ") {
		t.Errorf("error %v, or the page lacks its warning, its model or its charts", err)
	}
}
