// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkScores(b *testing.B) {
	const rows = 1 << 20
	votes := voted()
	r := rand.New(rand.NewPCG(1, 1))
	for i := len(votes.Classifier.(*Votes).Members); i < 50; i++ { // 25 rounds
		sp, err := votes.buildSpace(i % 2)
		if err != nil {
			b.Fatal(err)
		}
		votes.Classifier.(*Votes).Members = append(votes.Classifier.(*Votes).Members,
			Member{Space: i % 2, Vote: r.Float64(), Threshold: drawThresholds(r, sp, 1)[0]})
	}
	for _, m := range []*Model{votes, fitted(), levelled(), elected()} {
		b.Run(fmt.Sprintf("%s, %d levels", m.Learner, m.Schema.Classes()), func(b *testing.B) {
			cols := patients(r, m.Schema, rows)
			b.SetBytes(rows) // so that MB/s reads as millions of rows per second
			for b.Loop() {
				if _, err := m.Scores(cols, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
