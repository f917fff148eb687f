// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
)

// TestCardsTellAccuracyAndReach: the card of a model says what owners' answers put
// its first round's accuracy at, and what one liar can have done. In 20 runs, the
// same each time, the accuracy on the owners' own records is in the band 16 times
// or more: a band of 95 % holds fewer once in 400.
func TestCardsTellAccuracyAndReach(t *testing.T) {
	tab := synthetic(t, 10_000, 2)
	held := 0
	const runs = 20
	for i := range uint64(runs) {
		res, err := Run(context.Background(), tab, Params{Classifier: wire.Stump, Epsilon: 4 * dp.Nano, Rounds: 1,
			Source: seeded(i)})
		if err != nil {
			t.Fatal(err)
		}
		o := res.Rounds[0]
		card := res.Model.Privacy.Card()
		for _, want := range []string{
			fmt.Sprintf("at about %.0f %% (95 %% band %.0f to %.0f)", 100*(1-o.Err), 100*(1-o.Err-1.96*o.ErrNoise),
				100*min(1, 1-o.Err+1.96*o.ErrNoise)),
			fmt.Sprintf("a share of all records by up to %.2g", res.Reach), "epsilon = 4 ",
		} {
			if !strings.Contains(card, want) {
				t.Errorf("the card lacks %q:\n%s", want, card)
			}
		}
		if math.Abs(evaluate(t, res.Model, tab).BalancedAccuracy-(1-o.Err)) <= 1.96*o.ErrNoise {
			held++
		}
	}
	if held < 16 {
		t.Errorf("the accuracy is in the band in %d of %d runs", held, runs)
	}
	t.Logf("in the band in %d of %d runs", held, runs)
}
