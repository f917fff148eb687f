// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func TestCheckDefaultsAsksForWhatTheScopeProtects(t *testing.T) {
	public := func() *Schema { // a public number and a public label without defaults
		s := whole()
		s.Label.Role, s.Label.Default = Public, -1
		return s
	}
	fifty := 50.0
	withNumber := func() *Schema {
		s := public()
		s.Columns[1].Default = &fifty
		return s
	}
	for _, c := range []struct {
		of    *Schema
		scope dp.Scope
		asks  string // part of the refusal; "" for none
	}{
		{public(), dp.Nothing, ""}, {public(), dp.PrivateFeatures, ""},
		{public(), dp.LabelOnly, `column "ill"`}, {public(), dp.FeaturesAndLabel, `column "ill"`},
		{public(), dp.WholeRow, `column "pay"`}, {public(), dp.Party, `column "pay"`},
		{withNumber(), dp.WholeRow, `column "ill"`},
		{whole(), dp.LabelOnly, ""}, {whole(), dp.FeaturesAndLabel, ""}, {whole(), dp.WholeRow, `column "pay"`},
	} {
		err := c.of.CheckDefaults("op", c.scope)
		refused := errors.As(err, new(*dp.ParamError)) && strings.Contains(err.Error(), c.asks)
		if c.asks == "" && err != nil || c.asks != "" && !refused {
			t.Errorf("scope %q: error %v, want %q", c.scope, err, c.asks)
		}
	}
	s := withNumber()
	s.Label.Default = 1
	if err := s.CheckDefaults("op", dp.WholeRow); err != nil {
		t.Error(err)
	}
	// It survives both notations, and is no part of a model, which only evaluates.
	checkRoundTrip(t, s)
	if part := s.Part([]int{0, 1}); part.Label.Default != -1 || s.Label.Default != 1 {
		t.Errorf("a part keeps the default %d; the schema has %d", part.Label.Default, s.Label.Default)
	}
	if part := whole().Part([]int{0}); part.Label.Default != 0 {
		t.Error("a part loses a private label's default")
	}
}

// What ships trains with every learner and takes part in a federation.
func TestExamplesHaveEveryDefault(t *testing.T) {
	for _, path := range examples(t) {
		if err := mustLoad(t, path).CheckDefaults(path, dp.WholeRow); err != nil {
			t.Error(err)
		}
	}
}
