// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// TestRepeats: a source that follows the part's number makes the same model on
// any number of processors, another source another.
func TestRepeats(t *testing.T) {
	tab := censustest.Table(1, 20_000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	train := func(procs int, stream string) []byte {
		runtime.GOMAXPROCS(procs)
		res, err := Run(t.Context(), tab, Params{Classifier: wire.Stump, Epsilon: dp.Nano, Source: func(part int) rng.Source {
			return replay.Seeded(1, fmt.Sprintf("%s, %d", stream, part))
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Model.Privacy.Seeded {
			t.Error("a model from seeded sources is not marked")
		}
		text, err := json.Marshal(res.Model)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	one := train(1, "a")
	if !bytes.Equal(train(5, "a"), one) {
		t.Error("five processors make another model than one")
	}
	if bytes.Equal(train(1, "b"), one) {
		t.Error("another source makes the same model")
	}
}
