// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

// TestCertificatesBringSoManyOwners: a certificate brings no more owners to a task
// than it may, over rounds, batches and processes; what is stored may be sent again,
// by whomever; others and other tasks are not concerned.
func TestCertificatesBringSoManyOwners(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		s := again()
		a, b := task("a"), task("b")
		must(t, s.Create(t.Context(), a, round(0)))
		must(t, s.Create(t.Context(), b, round(0)))
		send := func(task store.Task, r int, via string, most int, owners ...uint64) (told string) {
			t.Helper()
			var batch []store.Report
			for _, o := range owners {
				one := report(task, r, o, fmt.Sprint(o))
				one.Via, one.Most = via, most
				batch = append(batch, one)
			}
			out, err := s.Accept(t.Context(), batch)
			must(t, err)
			for _, o := range out {
				told += map[store.Outcome]string{store.Stored: "s", store.Again: "a", store.Replayed: "r", store.Early: "e",
					store.Late: "l", store.Crowded: "c"}[o]
			}
			return told
		}
		expect := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		expect("more than may come, twice over", send(a, 0, "relay", 3, 1, 2, 2, 3, 4, 5), "ssascc")
		expect("the same again, and another", send(a, 0, "relay", 3, 5, 1, 2, 3, 4, 6), "caaacc")
		expect("by another certificate", send(a, 0, "other", 3, 1, 5, 6, 7, 8), "asssc")
		expect("of another task", send(b, 0, "relay", 3, 1, 2), "ss")
		expect("without a bound", send(a, 0, "relay", 0, 9, 10), "ss")
		expect("with a larger one", send(a, 0, "relay", 4, 11, 12), "sc")
		must(t, s.Seal(t.Context(), a.ID, 0, 1))
		expect("when it is late", send(a, 0, "relay", 3, 1, 13), "al")
		next := round(1)
		must(t, s.Advance(t.Context(), a.ID, 0, &next, nil))
		s = again()
		expect("in the next round", send(a, 1, "relay", 5, 14, 15), "sc")
		expect("too early", send(a, 2, "relay", 9, 16), "e")
		if n, err := s.Count(t.Context(), a.ID, 0); err != nil || n != 3+3+2+1 {
			t.Errorf("%d reports are stored, %v, want 9", n, err)
		}
	})
}

// TestManyWritersBringSoManyOwners lets several connections store at once what one
// certificate sends: together they store as many as it may bring.
func TestManyWritersBringSoManyOwners(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		a := task("a")
		first := again()
		must(t, first.Create(t.Context(), a, round(0)))
		var wg sync.WaitGroup
		var mu sync.Mutex
		var told []store.Outcome
		for w := range uint64(4) {
			s := again()
			wg.Go(func() {
				for i := range uint64(10) {
					var batch []store.Report
					for o := range uint64(10) {
						one := report(a, 0, 1000*w+10*i+o, "x")
						one.Via, one.Most = "relay", 137
						batch = append(batch, one)
					}
					out, err := s.Accept(t.Context(), batch)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					told = append(told, out...)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		stored := 0
		for _, o := range told {
			if o == store.Stored {
				stored++
			}
		}
		if n, err := first.Count(t.Context(), a.ID, 0); err != nil || n != 137 || stored != 137 ||
			slices.Contains(told, store.Again) {
			t.Errorf("%d reports are stored, %d were called so, %v, want 137", n, stored, err)
		}
	})
}
