// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// FitPublic returns the model of the public columns alone, which a private part should improve on. It
// costs nothing, uses public cells and labels only (1.5), and states no price. The label and a column
// must be public.
func (pl *Plan) FitPublic(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	if pl.scope != dp.PrivateFeatures || len(pl.public) == 0 {
		return nil, refuseParam("schema", "must have a public label and a public column for a model without a price", nil, "")
	}
	if err := g.WeighPersons(pl.most); err != nil {
		return nil, err
	}
	f := newFit(pl, g)
	if pl.isMulticlass() {
		st, err := f.startPublicClasses(ctx)
		if err != nil {
			return nil, err
		}
		return (&multiclassFit{fit: f, start: st}).buildModel(), nil
	}
	st, err := f.startPublic(ctx)
	if err != nil {
		return nil, err
	}
	r := newBinaryFit(f, st)
	r.finished = r.finishPublic()
	return r.buildModel(), nil
}
