// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// TestRefundsThatFailAreSaid: a job that may not begin, and cannot give its price back either, says
// that the price stays, of which job, and what shows and settles it. One that gives it back does not.
func TestRefundsThatFailAreSaid(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		for name, fails := range map[string]map[string]bool{"the beginning": {"begin: before": true},
			"both": {"begin: before": true, "refund: before": true}} {
			l := declare(t, fresh(t))
			defer l.Close()
			j := mustJob(t, l, request("first"))
			l.pass = func(at string) error {
				if fails[at] {
					return errInjected
				}
				return nil
			}
			err := charge(t.Context(), j, dp.Nano/4)
			l.pass = func(string) error { return nil }
			if !errors.Is(err, errInjected) {
				t.Fatalf("%s fails: err = %v", name, err)
			}
			said := err.Error()
			for _, word := range []string{`job "first"`, `data set "d"`, "not given back", "reserved", "budget show",
				"budget recover"} {
				if strings.Contains(said, word) != (len(fails) == 2) {
					t.Errorf("%s fails: %q; has %q: %t", name, said, word, strings.Contains(said, word))
				}
			}
			b, err := l.Balances(t.Context(), "d")
			must(t, err)
			if stays := b[0].Reserved == dp.Nano/4; stays != (len(fails) == 2) {
				t.Errorf("%s fails: %+v", name, b)
			}
		}
	})
}
