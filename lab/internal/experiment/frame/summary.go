// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Summary reads the records of one run.
type Summary struct {
	Repeats int
	values  map[place][]float64 // by repeat; NaN if there is none
	// invent makes up what was not measured, in null runs; nil elsewhere.
	invent func() []float64
	// all and less are of a summary without one repeat.
	all  *Summary
	less int
}

// valuesAt are the values of a place, nil if nothing was measured.
func (s *Summary) valuesAt(at place) []float64 {
	if s.all != nil && s.values[at] == nil {
		if v := slices.Clone(s.all.valuesAt(at)); v != nil {
			v[s.less] = math.NaN()
			s.values[at] = v
		}
	}
	if s.values[at] == nil && s.invent != nil {
		s.values[at] = s.invent()
	}
	return s.values[at]
}

type place struct {
	series  string
	epsilon dp.Epsilon
	metric  string
}

func summariseRecords(records []Record, repeats int) *Summary {
	s := &Summary{Repeats: repeats, values: map[place][]float64{}}
	for i := range records {
		r := &records[i]
		c, _ := r.cellOf()
		at := place{r.Series, c.point.Epsilon, r.Metric}
		if s.values[at] == nil {
			s.values[at] = slices.Repeat([]float64{math.NaN()}, repeats)
		}
		s.values[at][r.Repeat] = r.Value
	}
	return s
}

// Stat is the mean of a number over the repeats.
type Stat struct {
	Mean   float64
	StdErr float64 // of the mean; 0 for a single repeat
	StdDev float64 // between repeats; 0 for a single repeat
	N      int
}

// Mean is the mean of a metric at one ε, 0 for fits that have none. N is 0
// if nothing was measured.
func (s *Summary) Mean(series string, eps dp.Epsilon, metric string) Stat {
	return statOf(s.valuesAt(place{series, eps, metric}))
}

// Quantile is the q-quantile, q in [0, 1], of a metric over the repeats: between
// two of its values in proportion, as most programs have it (type 7 of Hyndman
// and Fan 1996). It is NaN if nothing was measured.
func (s *Summary) Quantile(series string, eps dp.Epsilon, metric string, q float64) float64 {
	var have []float64
	for _, v := range s.valuesAt(place{series, eps, metric}) {
		if !math.IsNaN(v) {
			have = append(have, v)
		}
	}
	if len(have) == 0 {
		return math.NaN()
	}
	slices.Sort(have)
	at := q * float64(len(have)-1)
	k := min(int(at), len(have)-1)
	next := min(k+1, len(have)-1)
	return have[k] + (at-float64(k))*(have[next]-have[k])
}

// Difference is the mean over repeats of series a minus series b, paired.
func (s *Summary) Difference(a, b string, eps dp.Epsilon, metric string) Stat {
	return s.Between(a, eps, b, eps, metric)
}

// Between is Difference where the two series have an ε of their own, e.g. 0 for
// one that has no privacy.
func (s *Summary) Between(a string, epsA dp.Epsilon, b string, epsB dp.Epsilon, metric string) Stat {
	return meanDifference(s.valuesAt(place{a, epsA, metric}), s.valuesAt(place{b, epsB, metric}))
}

// Change is the mean over repeats of one metric less another of the same line.
func (s *Summary) Change(series string, eps dp.Epsilon, a, b string) Stat {
	return meanDifference(s.valuesAt(place{series, eps, a}), s.valuesAt(place{series, eps, b}))
}

// meanDifference is the mean of a paired difference; N is 0 if a side is missing.
func meanDifference(va, vb []float64) Stat {
	if va == nil || vb == nil {
		return Stat{}
	}
	d := make([]float64, len(va))
	for i := range d {
		d[i] = va[i] - vb[i]
	}
	return statOf(d)
}

// Over is the mean over several ε of a paired difference, each repeat first
// averaged over them: one number per repeat, so repeats stay independent.
func (s *Summary) Over(a, b string, epsilons []dp.Epsilon, metric string) Stat {
	mean := make([]float64, s.Repeats)
	for _, eps := range epsilons {
		va, vb := s.valuesAt(place{a, eps, metric}), s.valuesAt(place{b, eps, metric})
		if va == nil || vb == nil {
			return Stat{}
		}
		for i := range mean {
			mean[i] += (va[i] - vb[i]) / float64(len(epsilons))
		}
	}
	return statOf(mean)
}

// Statistic is a function of a summary with its spread over the repeats, by the jackknife. Of a function that is linear
// in the means it is the paired mean.
func (s *Summary) Statistic(of func(s *Summary) float64) Stat {
	if s.Repeats < leastRepeats {
		return Stat{Mean: of(s), N: s.Repeats}
	}
	n, all := float64(s.Repeats), of(s)
	pseudo := make([]float64, s.Repeats)
	for r := range pseudo {
		pseudo[r] = n*all - (n-1)*of(&Summary{Repeats: s.Repeats, values: map[place][]float64{}, all: s, less: r})
	}
	return statOf(pseudo)
}

func statOf(values []float64) (st Stat) {
	sum := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			st.N++
			sum += v
		}
	}
	if st.N == 0 {
		return st
	}
	st.Mean = sum / float64(st.N)
	if st.N == 1 {
		return st
	}
	squares := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			squares += (v - st.Mean) * (v - st.Mean)
		}
	}
	st.StdDev = math.Sqrt(squares / float64(st.N-1))
	st.StdErr = st.StdDev / math.Sqrt(float64(st.N))
	return st
}
