// SPDX-License-Identifier: Apache-2.0

package site

import (
	"math"
	"net/http"
	"os"
	"testing"
	"time"
)

// What a training takes, by sites and by the time of a message there and back: one line each, on
// request. Calls go to all sites at once, so that seconds grow with the rounds, and bytes of a site with
// what its set lists.
func TestCostsOfSites(t *testing.T) {
	if os.Getenv("DISCREET_COSTS") == "" {
		t.Skip("set DISCREET_COSTS=1 to measure: it takes minutes")
	}
	s, rows := schemaOf(t, 2, 11), rowsOf(10000, 2, 11)
	pl := planOf(t, s, 1e9, len(rows))
	var first, last [3]float64
	for _, away := range []time.Duration{0, 40 * time.Millisecond} {
		for _, n := range []int{3, 10, 25, 50} {
			w := newWorld(t, s, rows, n)
			w.observe(func(_ int, h http.Handler, to http.ResponseWriter, r *http.Request) {
				time.Sleep(away)
				h.ServeHTTP(to, r)
			})
			c := w.coordinator(n)
			began := time.Now()
			_, err := c.Train(t.Context(), s, pl, kept)
			must(t, err)
			took, f := c.Traffic(), float64(n)
			last = [3]float64{time.Since(began).Seconds(), float64(took.Sent) / f, float64(took.Received) / f}
			if n == 3 {
				first = last
			}
			t.Logf("%v, %d sites: %d rounds, %.2f s, %.0f bytes to each site, %.0f from it", away, n, took.Calls/int64(n), last[0], last[1],
				last[2])
			for _, server := range w.servers {
				server.Close()
			}
		}
		over := math.Log(50. / 3)
		t.Logf("%v: exponents: seconds %.2f, bytes to a site %.2f, from it %.2f", away, math.Log(last[0]/first[0])/over,
			math.Log(last[1]/first[1])/over, math.Log(last[2]/first[2])/over)
	}
}
