// SPDX-License-Identifier: Apache-2.0

package census

import "math"

const (
	milli      = 1000 // scores are in thousandths of a nat
	scoreLimit = 12 * milli
	scoreStep  = 8 // scores within this distance share a probability

	// steepness scales every effect: it determines how well the label can be learned. base then
	// determines the share of yes.
	steepness = 1.45
	base      = -3.15
)

// score holds the contributions of causes to the score, joint ones for interactions, and the
// probability of a yes for each score.
type score struct {
	career [nEducation][maxAge + 1]int
	job    [nJob][maxHours + 1]int
	work   [nWork]int
	family [nSex][nMarital][maxHousehold + 1]int
	place  [nRegion][nSettlement]int
	degree [nOrigin][nEducation]int
	tenure [maxTenure + 1]int
	wealth [capitalSteps]int
	chance [2*scoreLimit/scoreStep + 1]uint32 // times 2^-32
}

func newScore() *score {
	sc := &score{}
	points := func(x float64) int { return int(math.Round(milli * steepness * x)) }

	// Pay grows for some thirty years of work, faster for the schooled.
	for e := range nEducation {
		leaves := 16 + float64(e)*1.3
		for age := minAge; age <= maxAge; age++ {
			years := max(float64(age)-leaves, 0)
			grown := 1 - math.Pow(min(math.Abs(years-32)/32, 1.4), 2)
			sc.career[e][age] = points(0.12*float64(e-4) + grown*(0.7+0.12*float64(e)))
		}
	}
	// Hours pay up to 55, and most if the job pays.
	for j, job := range jobs {
		for h := range maxHours + 1 {
			week := min(float64(h), 55) - 40
			if week > 0 {
				week /= 1.5
			}
			sc.job[j][h] = points(job.pay + week*(0.055+0.01*job.pay))
		}
	}
	sc.job[noJob][0] = points(-2.6)
	for w, x := range [nWork]float64{0, -1.5, -0.35, 0, 0.1, 0.9} {
		sc.work[w] = points(x)
	}
	for s := range nSex {
		for m := range nMarital {
			for size := 1; size <= maxHousehold; size++ {
				x := 0.5 * float64(s)
				if m == married {
					x += 0.25 + 0.35*float64(s)
				}
				if children := size - 2; s == female && children > 0 {
					x -= 0.25 * float64(min(children, 3))
				}
				sc.family[s][m][size] = points(x)
			}
		}
	}
	for r := range nRegion {
		for p := range nSettlement {
			x := []float64{-0.5, -0.4, -0.25, -0.1, 0, 0.05, 0.2, 0.3, 0.5}[r] + 0.2*float64(p-1)
			if r == 6 && p == 0 { // villages on the lakes are where the rich live
				x += 0.5
			}
			sc.place[r][p] = points(x)
		}
	}
	// A degree from abroad is worth less here.
	for e := range nEducation {
		sc.degree[1][e] = points(-0.2 - 0.06*float64(e))
		sc.degree[2][e] = points(-0.3 - 0.1*float64(e))
	}
	for t := range maxTenure + 1 {
		sc.tenure[t] = points(0.16*math.Sqrt(float64(t)) - 0.35)
	}
	for k := 1; k < capitalSteps; k++ {
		sc.wealth[k] = points(0.4 + 1.9*math.Pow(float64(k)/capitalSteps, 2))
	}
	for i := range sc.chance {
		x := float64(i*scoreStep-scoreLimit) / milli
		sc.chance[i] = uint32(math.Round((1 << 32) / (1 + math.Exp(-x))))
	}
	return sc
}

// chanceOf returns the probability of yes, times 2^32.
func (sc *score) chanceOf(points int) uint32 {
	points += int(math.Round(milli * base))
	at := (max(-scoreLimit, min(scoreLimit, points)) + scoreLimit) / scoreStep
	return sc.chance[at]
}
