// SPDX-License-Identifier: Apache-2.0

package census

import "math"

// Numbers of codes of parent columns; bands are age bands.
const (
	nSex, nRegion, nSettlement, nOrigin = 2, 9, 3, 3
	nEducation, nWork, nJob, nMarital   = 9, 6, 14, 5
	nBand                               = 8
)

// Codes with a special role in the distributions.
const (
	female, male       = 0, 1
	notWorking         = 0
	familyWork         = 1
	selfEmployed       = 2
	publicService      = 4
	ownCompany         = 5
	noJob              = 0
	partnered, married = 1, 2
)

// bandStart is the first age of each band.
var bandStart = [nBand]int{minAge, 20, 25, 35, 45, 55, 65, 75}

// laws are the conditional distributions of columns, each indexed by its parents.
type laws struct {
	band       [maxAge + 1]uint8
	region     law
	settlement [nRegion]law
	origin     [nSettlement]law
	age        [nOrigin]law
	sex        [nBand]law
	education  [nBand][nSex][nSettlement][nOrigin]law
	work       [nBand][nSex][nEducation]law
	job        [nEducation][nSex][nWork]law
	marital    [nBand][nSex]law
	household  [nMarital][nBand]law
	hours      [nJob][nSex][nBand]law
	capital    [nBand][nEducation][nWork]law
}

func newLaws() *laws {
	l := &laws{}
	for age := minAge; age <= maxAge; age++ {
		for b, start := range bandStart {
			if age >= start {
				l.band[age] = uint8(b)
			}
		}
	}
	l.setPlaces()
	l.setAges()
	l.setSchooling()
	l.setWorking()
	l.setFamilies()
	l.setCapitals()
	return l
}

func (l *laws) setPlaces() {
	l.region = newLaw([]uint64{5, 8, 9, 8, 12, 13, 11, 15, 19})
	for r, w := range [nRegion][]uint64{
		// village, town, city
		{60, 35, 5}, {50, 40, 10}, {45, 40, 15}, {40, 35, 25}, {40, 38, 22},
		{32, 38, 30}, {25, 40, 35}, {15, 35, 50}, {2, 18, 80},
	} {
		l.settlement[r] = newLaw(w)
	}
	l.origin = [nSettlement]law{
		// native, neighbour, overseas
		newLaw([]uint64{94, 4, 2}), newLaw([]uint64{88, 8, 4}), newLaw([]uint64{76, 12, 12}),
	}
}

// setAges sets a population pyramid: constant up to 60, then falling. People from abroad are mostly of
// working age. The share of women depends on age.
func (l *laws) setAges() {
	for o := range nOrigin {
		w := make([]uint64, maxAge-minAge+1)
		for i := range w {
			age := minAge + i
			w[i] = 100
			if age > 60 {
				w[i] = uint64(100 - 3*(age-60))
			}
			if o > 0 {
				peak := [nOrigin]int{0, 40, 33}[o]
				w[i] = uint64(max(4, 120-4*max(age-peak, peak-age)))
			}
		}
		l.age[o] = newLaw(w)
	}
	for b, women := range [nBand]uint64{490, 492, 498, 502, 503, 512, 535, 590} { // women live longer
		l.sex[b] = newLaw([]uint64{women, 1000 - women})
	}
}

// setSchooling makes education depend on when and where a person grew up: a lean of 1 changes the odds
// of the highest against the lowest education by a factor e². A degree requires a minimum age.
func (l *laws) setSchooling() {
	base := [nEducation]float64{-3.6, -2.3, -1.0, 0.2, 0.1, -0.3, -0.2, -1.1, -2.9}
	youngest := [nEducation]int{17, 17, 17, 17, 20, 20, 20, 25, 25} // by first age of the band
	// By band: older cohorts had shorter schooling, women's most of all.
	cohort := [nSex][nBand]float64{
		female: {0, 0.35, 0.75, 0.65, 0.35, -0.1, -0.7, -1.2},
		male:   {0, 0.2, 0.5, 0.5, 0.35, 0.15, -0.2, -0.6},
	}
	place := [nSettlement]float64{-0.45, 0, 0.5}
	from := [nOrigin]float64{0, -0.35, 0.15}
	for b := range nBand {
		for s := range nSex {
			for p := range nSettlement {
				for o := range nOrigin {
					lean := cohort[s][b] + place[p] + from[o]
					x := make([]float64, nEducation)
					for e := range x {
						x[e] = base[e] + lean*float64(e-4)/2
						if o > 0 && (e < 2 || e > 6) { // both ends are commoner among arrivals
							x[e] += 0.5
						}
						if bandStart[b] < youngest[e] {
							x[e] = never
						}
					}
					l.education[b][s][p][o] = softLaw(x)
				}
			}
		}
	}
}

func (l *laws) setWorking() {
	base := [nWork]float64{-1.6, -4.2, -1.7, 1.0, -0.4, -2.9}
	idle := [nSex][nBand]float64{
		female: {1.9, 0.6, 0.3, 0.2, 0.2, 0.9, 3.6, 5.4},
		male:   {1.8, 0.4, -0.7, -0.9, -0.6, 0.4, 3.1, 4.9},
	}
	settled := [nBand]float64{-1.5, -0.9, -0.2, 0.1, 0.3, 0.4, 0.9, 1.2} // own business comes with age
	for b := range nBand {
		for s := range nSex {
			for e := range nEducation {
				high := float64(e-4) / 4
				x := base
				x[notWorking] += idle[s][b] - 0.7*high
				x[familyWork] += 0.6*float64(1-s) - high
				x[selfEmployed] += settled[b] + 0.3*float64(s)
				x[publicService] += 0.7*high + 0.3*float64(1-s)
				x[ownCompany] += settled[b] + 0.6*float64(s) + 0.6*high
				l.work[b][s][e] = softLaw(x[:])
			}
		}
	}
	l.setJobs()
	l.weeklyHours()
}

// job describes one occupation. The names are those of occupations.
type job struct {
	size   float64 // log of its share, before other effects
	school float64 // the most typical education
	spread float64 // spread of education around it
	men    float64 // log odds towards men; negative: towards women
	own    float64 // log odds towards self-employment
	state  float64 // log odds towards public service
	full   float64 // usual weekly hours
	part   float64 // log odds towards part time
	pay    float64 // contribution to the score
}

var jobs = [nJob]job{
	{spread: 1},
	{-0.2, 1.0, 1.6, 0.3, -1.0, -0.8, 37, 0.8, -1.3},
	{-1.2, 2.0, 1.8, 0.6, 1.6, -1.5, 48, -0.2, -1.2},
	{0.2, 2.6, 1.6, -0.6, 0.0, -0.6, 36, 1.0, -1.0},
	{0.0, 4.2, 1.8, -1.2, -0.5, 0.9, 36, 0.8, -0.5},
	{-0.6, 2.6, 1.4, 1.2, 0.3, -0.2, 43, -0.4, -0.3},
	{-0.3, 2.8, 1.4, 1.0, -1.2, -1.2, 41, -1.0, -0.2},
	{0.1, 4.0, 1.8, -0.2, 0.7, -2.0, 40, 0.3, -0.1},
	{0.2, 4.2, 1.6, -0.9, -0.9, 0.5, 39, 0.3, 0.0},
	{0.1, 3.4, 1.3, 1.5, 0.7, -0.9, 42, -0.9, 0.2},
	{-1.3, 4.4, 1.6, 0.9, -2.0, 1.8, 42, -1.0, 0.4},
	{-0.3, 5.4, 1.3, 0.4, -0.2, 0.0, 40, -0.6, 0.7},
	{0.6, 7.2, 1.3, -0.1, 0.4, 0.7, 43, -0.2, 1.2},
	{-0.2, 6.2, 1.7, 0.5, 0.8, -0.1, 47, -1.2, 1.5},
}

func (l *laws) setJobs() {
	for e := range nEducation {
		for s := range nSex {
			for w := range nWork {
				x := make([]float64, nJob)
				for j, job := range jobs {
					off := (float64(e) - job.school) / job.spread
					x[j] = job.size - off*off/2 + job.men*(float64(s)-0.5)
					switch w {
					case familyWork, selfEmployed, ownCompany:
						x[j] += job.own
					case publicService:
						x[j] += job.state
					}
					if (j == noJob) != (w == notWorking) {
						x[j] = never
					}
				}
				l.job[e][s][w] = softLaw(x)
			}
		}
	}
}

// weeklyHours is a mixture of the usual hours of the occupation, a peak at 40, part time, and a long
// tail of long weeks.
func (l *laws) weeklyHours() {
	apart := [nBand]float64{2.2, 0.9, 0.1, 0, 0, 0.3, 1.9, 2.5} // part time by age
	for j, job := range jobs {
		for s := range nSex {
			for b := range nBand {
				x := make([]float64, maxHours+1)
				for h := range x {
					away := func(from, width float64) float64 {
						z := (float64(h) - from) / width
						return math.Exp(-z * z / 2)
					}
					part := math.Exp(job.part + apart[b] - 1.6 + 0.9*float64(1-s))
					p := away(job.full, 3) + 0.4*away(job.full+10, 7) + part*away(22, 6)
					if h == 40 {
						p += 4
					}
					if h%5 != 0 { // people round
						p /= 3
					}
					x[h] = math.Log(p + 1e-4)
					if (h == 0) != (j == noJob) {
						x[h] = never
					}
				}
				l.hours[j][s][b] = softLaw(x)
			}
		}
	}
}

func (l *laws) setFamilies() {
	// never_married, partnered, married, separated, widowed
	by := [nBand][nMarital]uint64{
		{96, 4, 0, 0, 0}, {75, 17, 7, 1, 0}, {38, 21, 36, 5, 0}, {18, 14, 55, 12, 1},
		{12, 9, 60, 17, 2}, {9, 6, 63, 17, 5}, {7, 4, 62, 13, 14}, {6, 2, 48, 8, 36},
	}
	for b, w := range by {
		for s := range nSex {
			w := w
			if s == male { // men marry later and are widowed less often
				if b < 4 {
					w[0] += w[2] / 4
					w[2] -= w[2] / 4
				}
				w[2] += w[4] * 2 / 3
				w[4] -= w[4] * 2 / 3
			}
			l.marital[b][s] = newLaw(w[:])
		}
	}
	mean := [nMarital]float64{0.9, 1.6, 2.1, 1.0, 0.4} // people beside oneself, at most
	age := [nBand]float64{2.4, 1.2, 0.8, 1.15, 1.1, 0.75, 0.55, 0.45}
	for m := range nMarital {
		for b := range nBand {
			x := make([]float64, maxHousehold)
			for size := 1; size <= maxHousehold; size++ {
				others := float64(size - 1)
				fact, _ := math.Lgamma(others + 1)
				x[size-1] = others*math.Log(mean[m]*age[b]+0.2) - fact
				if size == 1 && (m == partnered || m == married) {
					x[size-1] -= 3 // couples who live apart are few
				}
			}
			l.household[m][b] = softLaw(x)
		}
	}
}

// setCapitals sets capital income: most people have none; the others' amounts are log-normal with a
// Pareto tail above 1.5 standard deviations.
func (l *laws) setCapitals() {
	has := [nBand]float64{-4.6, -4.2, -3.4, -2.8, -2.4, -2.1, -1.7, -1.6}
	own := [nWork]float64{0.2, 0, 0.5, 0, 0, 1.3}
	step := math.Log(float64(maxCapital)/minCapital) / (capitalSteps - 2)
	for b := range nBand {
		for e := range nEducation {
			for w := range nWork {
				chance := 1 / (1 + math.Exp(-(has[b] + own[w] + 0.28*float64(e-3))))
				centre := 6.9 + 0.22*float64(b) + 0.18*float64(e) + 0.7*own[w]
				const width = 1.4
				x := make([]float64, capitalSteps)
				for k := 1; k < capitalSteps; k++ {
					z := (math.Log(minCapital) + step*float64(k-1) - centre) / width
					if z < 1.5 {
						x[k] = math.Exp(-z * z / 2)
					} else { // same value and slope where the two meet
						x[k] = math.Exp(-1.5*1.5/2 - 1.5*(z-1.5))
					}
				}
				var sum float64
				for _, p := range x {
					sum += p
				}
				x[0] = sum * (1 - chance) / chance
				for k := range x {
					x[k] = math.Log(max(x[k], 1e-300))
				}
				l.capital[b][e][w] = softLaw(x)
			}
		}
	}
}
