// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// computeStatistic returns S = (1/N) Σ c_i xᵢᵀ, row-major, with one row per coordinate of the shares
// c_i. For two levels the coordinate is the share of the positive one. For more there are K-1
// coordinates in the plane of shares that add up to 1 (toHelmert).
func (p *public) computeStatistic(ctx context.Context, t *Tally) ([]float64, error) {
	sums, err := p.sumShares(ctx, t)
	if err != nil {
		return nil, err
	}
	whole := new(big.Float).SetPrec(200).SetUint64(t.totalUnits())
	whole.Mul(whole, big.NewFloat(math.Ldexp(float64(p.rows), unitBits)))
	d, levels := p.pl.countCoefficients(), p.pl.Levels()
	level := func(k, f int) float64 {
		x := sums[k*d+f].toFloat()
		out, _ := x.Quo(x, whole).Float64()
		return out
	}
	s := make([]float64, p.pl.outputLength())
	for f := range d {
		if levels == 2 {
			s[f] = level(p.pl.s.Label.Positive, f)
			continue
		}
		of := make([]float64, levels)
		for k := range of {
			of[k] = level(k, f)
		}
		for c, x := range toHelmert(of) {
			s[c*d+f] = x
		}
	}
	return s, nil
}

// sumShares returns Σ share·row in units, levels × width.
func (p *public) sumShares(ctx context.Context, t *Tally) ([]wide, error) {
	d, levels := p.pl.countCoefficients(), p.pl.Levels()
	parts, err := mapStrips(ctx, p.rows, func(from, to int) []wide {
		sum := make([]wide, levels*d)
		shares := make([]uint64, momentRows*levels)
		codes := make([]uint32, momentRows)
		for ; from < to; from += momentRows {
			n := min(momentRows, to-from)
			for i := range n {
				t.share(from+i, shares[i*levels:][:levels])
			}
			for c, j := range p.pl.space.Columns {
				p.cols[j].Codes.Read(from, codes[:n])
				at := &p.cells[c]
				for i, code := range codes[:n] {
					f, x := int(at.index[code]), at.units[code]
					for k, share := range shares[i*levels:][:levels] {
						sum[k*d+f].addProduct(share, x)
					}
				}
			}
			for i := range n {
				for k, share := range shares[i*levels:][:levels] {
					sum[k*d+d-1].addProduct(share, p.one)
				}
			}
		}
		return sum
	})
	if err != nil {
		return nil, err
	}
	total := make([]wide, levels*d)
	for _, part := range parts {
		for i := range total {
			total[i].addWide(part[i])
		}
	}
	return total, nil
}

// wide is a whole number of 128 bits, in two's complement.
type wide struct{ hi, lo uint64 }

// addProduct adds share·x; |x| < 2^63.
func (w *wide) addProduct(share uint64, x int64) {
	sign := uint64(x >> 63) // all ones if x < 0
	hi, lo := bits.Mul64(share, (uint64(x)^sign)-sign)
	w.addWide(wide{hi ^ sign, lo ^ sign}) // -v is ^v + 1
	w.addWide(wide{0, sign & 1})
}

func (w *wide) addWide(v wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, v.lo, 0)
	w.hi, _ = bits.Add64(w.hi, v.hi, carry)
}

func (w wide) toFloat() *big.Float {
	x := new(big.Int).SetInt64(int64(w.hi))
	x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(w.lo))
	return new(big.Float).SetPrec(200).SetInt(x)
}

// toHelmert writes a vector of K numbers in K-1 orthonormal coordinates of the plane of vectors with
// sum 0. Its constant part is dropped.
func toHelmert(of []float64) []float64 {
	out := make([]float64, len(of)-1)
	sum := 0.0
	for c := range out {
		sum += of[c]
		n := float64(c + 1)
		out[c] = (sum - n*of[c+1]) / math.Sqrt(n*(n+1))
	}
	return out
}

// fromHelmert returns the vector of the plane with these coordinates.
func fromHelmert(at []float64) []float64 {
	out := make([]float64, len(at)+1)
	for c, x := range at {
		n := float64(c + 1)
		x /= math.Sqrt(n * (n + 1))
		for k := range c + 1 {
			out[k] += x
		}
		out[c+1] -= n * x
	}
	return out
}

// sensitivity is the largest change of A·S by one party (1.1).
func (pl *Plan) sensitivity(t *transform) float64 {
	l2 := pl.perVote() * pl.largestChange() * t.reach
	// The last places of every coordinate may move with any vote.
	return l2*(1+0x1p-40) + 2*math.Sqrt(float64(pl.Levels()-1))*t.slip
}

// release releases the transformed statistic and applies the inverse of A to the result.
func (p *public) release(t *transform, s []float64, exit *mech.Exit) []float64 {
	d := p.pl.countCoefficients()
	values := make([]mech.Ratio, 0, len(s))
	for ; len(s) > 0; s = s[d:] {
		for _, x := range t.multiplyBy(s[:d]) {
			values = append(values, mech.RatioOf(x))
		}
	}
	noisy := exit.Release(statisticLabel, p.pl.noiseFor(p.pl.sensitivity(t), len(values)),
		values...) // 1.5: votes meet noise
	out := make([]float64, 0, len(noisy))
	for ; len(noisy) > 0; noisy = noisy[d:] {
		out = append(out, t.multiplyInverse(noisy[:d])...)
	}
	return out
}

// noiseFor returns spherical noise scaled for one party.
func (pl *Plan) noiseFor(l2 float64, length int) mech.Mechanism {
	if pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.GammaFor(pl.Epsilon, l2, length))
}
