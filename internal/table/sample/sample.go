// SPDX-License-Identifier: Apache-2.0

// Package sample draws rows of a table for training and testing: balanced or held out. It is for
// experiments and comparisons; the drawn rows are not protected.
package sample

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Balance draws as many rows of each label as the rarest label has, without
// replacement, and returns them in random order.
func Balance(t *dataset.Table, src rng.Source) []int {
	byLabel := make([][]int, t.Schema.Classes())
	for i, l := range t.Labels {
		byLabel[l] = append(byLabel[l], i)
	}
	least := len(slices.MinFunc(byLabel, func(a, b []int) int { return len(a) - len(b) }))
	var rows []int
	for _, of := range byLabel {
		shuffle(of, src)
		rows = append(rows, of[:least]...)
	}
	shuffle(rows, src)
	return rows
}

// HoldOut shuffles rows and separates ⌊share·len⌋ of them for testing.
func HoldOut(rows []int, share float64, src rng.Source) (train, test []int) {
	all := slices.Clone(rows)
	shuffle(all, src)
	n := int(share * float64(len(all)))
	return all[n:], all[:n]
}

// HoldOutUnits is HoldOut for all rows of a table. If the table has persons, share is the share of
// persons, and no person has rows on both sides. Rows without a person are for training.
func HoldOutUnits(t *dataset.Table, share float64, src rng.Source) (train, test []int) {
	all := make([]int, t.Rows)
	for i := range all {
		all[i] = i
	}
	if t.Persons == nil {
		return HoldOut(all, share, src)
	}
	rows, _ := t.CountPersons()
	persons := make([]int, 0, len(rows))
	for p, n := range rows {
		if p != dataset.Nobody && n > 0 {
			persons = append(persons, p)
		}
	}
	_, out := HoldOut(persons, share, src)
	held := make([]bool, len(rows))
	for _, p := range out {
		held[p] = true
	}
	for _, i := range all {
		if held[t.Persons[i]] {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	shuffle(train, src)
	shuffle(test, src)
	return train, test
}

func shuffle(rows []int, src rng.Source) {
	rng.Shuffle(src, len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}
