// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Prices are written as decimals that are exactly they: of any size, by themselves and in JSON.
func TestPricesAreWrittenExactly(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for bits := range 51 {
		for range 200 {
			n := 1<<bits | random.Int64N(1<<bits)
			type unit struct {
				text string
				of   int64
			}
			texts := []unit{}
			if e := Epsilon(n); e <= MaxEpsilon {
				texts = append(texts, unit{e.String(), Nano}, unit{(Price{Epsilon: e}).String()[len("epsilon = "):], Nano})
			}
			if d := Delta(n); d <= MaxDelta {
				texts = append(texts, unit{d.String(), Femto},
					unit{(Price{Epsilon: 1, Delta: d}).String()[len("epsilon = 0.000000001, delta = "):], Femto})
			}
			if r := Rho(n); r <= MaxRho {
				texts = append(texts, unit{r.String(), Pico})
			}
			for _, u := range texts {
				got, ok := new(big.Rat).SetString(u.text)
				if want := big.NewRat(n, u.of); !ok || got.Cmp(want) != 0 {
					t.Fatalf("%d of %d is written %q", n, u.of, u.text)
				}
			}
			b, err := json.Marshal([]any{Epsilon(n), Delta(n), Rho(n)})
			if want := fmt.Sprintf("[%d,%d,%d]", n, n, n); err != nil || string(b) != want {
				t.Fatalf("JSON %s, %v, want %s", b, err, want)
			}
		}
	}
}
