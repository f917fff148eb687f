// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	what := map[Method]string{
		Soft: "soft votes", Majority: "majority votes", Average: "the mean of the parties' coefficients",
		NoisyMax: fmt.Sprintf("%d rows answered by a noisy vote, then a fit to the answers", pl.Queries),
	}[pl.Method]
	switch {
	case pl.Method == Average || pl.Method == NoisyMax:
	case pl.Form == Statistic:
		what += fmt.Sprintf(", noise on the mean of votes times rows, shape %s", pl.Shape)
	default:
		what += fmt.Sprintf(", noise on the coefficients (%s), %s loss", pl.Mode, pl.Loss)
	}
	var f learn.Facts
	f.Add("method", string(pl.Method), "%d parties: %s", pl.Parties, what)
	if pl.NotPrivate {
		f.AddScope(pl.s, guard.Terms{NotPrivate: true}, "")
	} else {
		f.Add("protects", string(dp.Party),
			"protects everything that one party holds, whether it took part, and so each single row (%s)", pl.s.Unit)
	}
	f.Add("features", pl.space.Width(), "%s and the intercept, %s encoding, %d levels: %d coefficients",
		plaintext.Count(pl.space.Width(), "feature"), pl.Encoding, pl.Levels(), pl.outputLength())
	if pl.NotPrivate {
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf"})
	} else {
		f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(),
			Text: fmt.Sprintf("price ε = %s in %s", pl.Epsilon, plaintext.Count(len(pl.bill), "release"))})
	}
	if pl.Method != Average {
		f = append(f, learn.Fact{Key: "reg", Value: pl.reg(),
			Text: fmt.Sprintf("ridge %s on the mean loss of rows of length at most 1", learn.Digits(pl.reg(), 4))})
	}
	if g := pl.Gap(pl.Parties, pl.rows); !pl.NotPrivate && pl.Method != NoisyMax {
		f = append(f, learn.Fact{Key: "noise_length", Value: g.Noise,
			Text: fmt.Sprintf("noise of length %s on average in %s", learn.Digits(g.Noise, 4), pl.bill[0].Release)})
	}
	return f
}

// Gap estimates the cost of privacy and of a finite auxiliary table for the combined classifier, in
// nats of mean loss. It is a first approximation for rows with equal variance in all directions:
// Theorem 4 of the paper with its constants filled in.
type Gap struct {
	Parties  int     `json:"parties"`
	Noise    float64 `json:"noise_length"` // mean Euclidean length
	Privacy  float64 `json:"privacy"`      // of order ε⁻² M⁻²; without M for majority
	Sampling float64 `json:"sampling"`     // of order N⁻¹; 0 if N is unknown
}

// Gap evaluates the approximation for these numbers of parties and auxiliary rows (0: unknown). It is
// 0 for method NoisyMax and for ε = 0.
func (pl *Plan) Gap(parties, rows int) Gap {
	g := Gap{Parties: parties}
	if rows > 0 {
		g.Sampling = float64(pl.outputLength()) / (2 * float64(rows))
	}
	if pl.NotPrivate || pl.Method == NoisyMax {
		return g
	}
	p := pl.Params
	p.Parties = parties
	reg, d := p.Reg, float64(pl.countCoefficients())
	if reg == 0 {
		reg = p.DefaultReg(pl.countCoefficients(), pl.outputLength())
	}
	bend := 1 / (2 * float64(pl.Levels())) // of the loss at equal odds, ¼ for two levels
	if pl.Levels() == 2 {
		bend = 0.25
	}
	scale, perSquare := p.perVote()*pl.largestChange()/pl.Epsilon.Float(), 0.0
	switch {
	case pl.Method == Average:
		scale, perSquare = 2*pl.Bound/(float64(parties)*pl.Epsilon.Float()), bend/d
	case pl.Form == Output:
		if pl.Mode == Printed || pl.Loss == Huber {
			scale *= 2 / pl.largestChange()
		}
		scale /= reg
		perSquare = bend/d + reg
	case pl.Shape == Ball:
		scale /= math.Sqrt(d)
		perSquare = 1 / (bend/d + reg)
	default:
		perSquare = 1 / (bend + reg*d)
	}
	dim := float64(pl.outputLength())
	g.Noise = dim * scale
	g.Privacy = dim * (dim + 1) * scale * scale * perSquare / 2
	return g
}
