// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// weighted are rows times their weights, over the largest weight sent: w·x/W.
type weighted struct {
	continuous.Rows
	weight []float64
	most   float64
}

func (r weighted) Row(i int, out []float64) {
	r.Rows.Row(i, out)
	by := min(r.weight[i], r.most) / r.most
	for j := range out {
		out[j] *= by
	}
}

// perturbCentroids is section 3.5.1: K means of d numbers, each class's own, of the
// perturbed w·x of the given rows. A nil mechanism perturbs nothing. Labels
// travel in clear, and the sums are divided by the number of rows of the class,
// as printed; byWeight divides by the sum of weights instead.
func perturbCentroids(train labelled, group []int, weight []float64, most float64, m continuous.Mechanism,
	byWeight bool, src rng.Source) [][]float64 {
	l := train.subsetRows(group)
	w := make([]float64, len(group))
	for i, r := range group {
		w[i] = weight[r]
	}
	sent := weighted{l.Rows, w, most}
	out := make([][]float64, l.classes)
	for k, of := range l.byClass() {
		own := picked{sent, of}
		if m == nil {
			out[k] = plainSum(own)
		} else {
			out[k] = m.Sum(own, 0, len(of), src)
		}
		by := float64(len(of))
		if byWeight {
			by = 0
			for _, i := range of {
				by += min(w[i], most)
			}
		}
		for j := range out[k] {
			out[k][j] *= most / max(by, math.SmallestNonzeroFloat64)
		}
	}
	return out
}

func plainSum(rows continuous.Rows) []float64 {
	sum, row := make([]float64, rows.Dim()), make([]float64, rows.Dim())
	for i := range rows.Len() {
		rows.Row(i, row)
		for j, x := range row {
			sum[j] += x
		}
	}
	return sum
}

// nearestClass is the class of the closest centroid for each row, the first of
// equally close ones.
func nearestClass(rows continuous.Rows, centroids [][]float64) []uint8 {
	half := make([]float64, len(centroids))
	for k, c := range centroids {
		half[k] = dotProduct(c, c) / 2
	}
	row := make([]float64, rows.Dim())
	out := make([]uint8, rows.Len())
	for i := range out {
		rows.Row(i, row)
		least := math.Inf(1)
		for k, c := range centroids {
			if d := half[k] - dotProduct(row, c); d < least { // half the squared distance, less half of ‖x‖²
				least, out[i] = d, uint8(k)
			}
		}
	}
	return out
}

func accuracyOf(said, y []uint8) float64 {
	right := 0
	for i, c := range y {
		if said[i] == c {
			right++
		}
	}
	return float64(right) / float64(len(y))
}
