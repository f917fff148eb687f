// SPDX-License-Identifier: Apache-2.0

package spending_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
)

// BenchmarkCommit lets new owners report, 500 at a time, into a book that has
// grown to 50,000 before.
func BenchmarkCommit(b *testing.B) {
	const batch = 500
	bk, err := spending.Open(context.Background(), filepath.Join(b.TempDir(), "book.db"), dp.Nano, "")
	must(b, err)
	defer bk.Close()
	n := 0
	add := func() {
		given := make([]answer.Given, batch)
		for i := range given {
			given[i] = give(n, 1, dp.Nano,
				"a report of about a hundred bytes, as one of a hundred cells is: names are the most of it")
			n++
		}
		must(b, bk.Commit(context.Background(), given))
	}
	for n < 50_000 {
		add()
	}
	for b.Loop() {
		add()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/report")
}
