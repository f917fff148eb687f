// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
)

// Facts are the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit,
			pl.s.Neighbours())},
		{Key: "form", Value: string(pl.Form), Text: fmt.Sprintf("%s form, %s encoding, teachers see %d features", pl.Form,
			pl.Encoding, pl.private.Width())},
	}
	if pl.rows > 0 {
		k := pl.countTeachers(pl.rows)
		f = append(f, learn.Fact{Key: "teachers", Value: k,
			Text: fmt.Sprintf("%d teachers of about %.3g rows", k, float64(pl.rows)/float64(k))})
	}
	if pl.NotPrivate {
		f[0] = learn.Fact{Key: "protects", Value: string(dp.Nothing), Text: "NOT PRIVATE: nothing is protected"}
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "ε is infinite"})
		if pl.Form == Printed && pl.rows > 0 {
			loss := ownQueryLoss(pl.countTeachers(pl.rows), pl.VoteEpsilon)
			f = append(f, learn.Fact{Key: "own_query_loss", Value: loss,
				Text: fmt.Sprintf("said to cost ε = %s a vote; the vote about a row loses %.3g about that row's own cells",
					pl.VoteEpsilon, loss)})
		}
		return f
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(),
		Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))})
	if pl.Noise == Gaussian {
		f = append(f,
			learn.Fact{Key: "delta", Value: json.Number(pl.Delta.String()),
				Text: fmt.Sprintf("and δ = %s: Gaussian noise of ρ = %s and %s", pl.Delta, pl.votes.rho, pl.worth.rho)},
			learn.Fact{Key: "noise_deviation", Value: math.Sqrt(pl.noiseVariance()),
				Text: fmt.Sprintf("standard deviation of the noise on the teachers' votes: %.4g teachers on each feature",
					math.Sqrt(pl.noiseVariance()))})
	} else {
		scale := votesMove / pl.votes.eps.Float()
		f = append(f, learn.Fact{Key: "noise_scale", Value: scale,
			Text: fmt.Sprintf("noise scale of the teachers' votes: %.4g teachers on each feature", scale)})
	}
	if pl.rows == 0 {
		f = append(f, learn.Fact{Key: "teachers", Value: nil,
			Text: "the number of teachers needs the number of rows: give --rows"})
	}
	return f
}

// modelColumns are those of the model, in the schema's order.
func (pl *Plan) modelColumns() []int {
	cols := slices.Clone(pl.joint.Columns)
	slices.Sort(cols)
	return cols
}

func (pl *Plan) privacyStatement(g *guard.Guard) model.Privacy {
	p := learn.State(g, pl.claimName())
	if pl.Form == Printed {
		p.Statement = fmt.Sprintf("NOT private as claimed: votes said to cost %s each are made of the row's own private "+
			"cells and can flip whole, and the model holds the teachers. It exists to reproduce a figure.", pl.VoteEpsilon)
	}
	return p
}

func (pl *Plan) claimName() string {
	if pl.scope == dp.PrivateFeatures {
		return "pate: G-PATE-1"
	}
	return "pate: G-PATE-2"
}
