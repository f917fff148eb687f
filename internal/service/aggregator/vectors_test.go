// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/census"
	owning "github.com/discreet-dp/discreet/internal/federated/answer"
	core "github.com/discreet-dp/discreet/internal/federated/collect"
	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/service/tasks"
)

var update = flag.Bool("update", false, "write the vectors of the protocol anew")

// vectors are messages of the protocol as another implementation must write
// them. Keys are the SHA-256 of "discreet vector owner N"; reports are drawn from
// a replayed source, so a report is any valid one and is given as it is.
type vectors struct {
	Announcement string        `json:"announcement"` // without a list of owners
	Listed       string        `json:"listed"`       // the same with one: owners' keys, in order
	Task         string        `json:"task"`         // its bytes, as the announcement holds them, with a line break
	TaskID       string        `json:"task_id"`      // hexadecimal
	Broadcasts   []string      `json:"broadcasts"`
	Owners       []ownerVector `json:"owners"`
}

type ownerVector struct {
	Seed      string `json:"seed"` // of the Ed25519 key, hexadecimal
	Name      string `json:"name"`
	Slot      int    `json:"slot"`
	Ticket    uint64 `json:"ticket"`
	Ask       int    `json:"ask"`
	Words     []int  `json:"words"`
	Report    string `json:"report"` // hexadecimal
	Signature string `json:"signature"`
}

func vectorKey(i int) ed25519.PrivateKey {
	seed := sha256.Sum256(fmt.Appendf(nil, "discreet vector owner %d", i))
	return ed25519.NewKeyFromSeed(seed[:])
}

// TestVectors holds the code against internal/testkit/protocol/vectors.json, which -update
// writes.
func TestVectors(t *testing.T) {
	const path = "../../testkit/protocol/vectors.json"
	task, err := core.Plan(core.Params{Schema: census.Schema(), Classifier: wire.Stump, Epsilon: dp.Nano, Owners: 40, Rounds: 1, Nonce: strings.Repeat("5a", 16)})
	must(t, err)
	ann := &tasks.Announcement{Task: task, Minimum: 2, Slot: time.Hour, Quiet: time.Second, Ends: time.Unix(2_000_000_000, 0)}
	text, err := ann.Text()
	must(t, err)
	again, err := tasks.Parse(text)
	must(t, err)
	bytesOfTask, err := again.Task.Text()
	must(t, err)
	id, err := task.Digest()
	must(t, err)
	listed := *ann
	var keys strings.Builder
	for i := range 40 {
		keys.WriteString(spending.Keys(vectorKey(i)).Name(0) + "\n")
	}
	roster, err := tasks.ParseRoster([]byte(keys.String()))
	must(t, err)
	listed.Roster = roster.Digest()
	withList, err := listed.Text()
	must(t, err)
	v := vectors{Announcement: string(text), Listed: string(withList), Task: string(bytesOfTask), TaskID: id.String()}
	terms, err := owning.Accept(bytesOfTask, owning.Caps{Epsilon: dp.Nano})
	must(t, err)
	recs, err := terms.Bind(census.Generate(1, 40))
	must(t, err)
	agg, err := core.New(task)
	must(t, err)
	exit := mech.NewExit(replay.Seeded(1, "vectors"))
	for slot := range task.Slots() {
		broadcast, err := agg.Broadcast()
		must(t, err)
		v.Broadcasts = append(v.Broadcasts, string(broadcast))
		round, err := terms.Read(broadcast)
		must(t, err)
		reporter := round.Reporter(recs)
		for i := range 40 {
			key := vectorKey(i)
			name := spending.Keys(key).Name(0)
			place := terms.Place(name)
			if place.Slot != slot {
				continue
			}
			r, err := reporter.Report(name, place.Ticket, i, exit)
			must(t, err)
			raw := r.Append(nil)
			must(t, agg.Receive(raw))
			o := ownerVector{Seed: fmt.Sprintf("%x", key.Seed()), Name: name, Slot: slot, Ticket: place.Ticket, Ask: r.Ask,
				Report: fmt.Sprintf("%x", raw), Signature: fmt.Sprintf("%x", ed25519.Sign(key, tasks.Signable(raw)))}
			for _, w := range r.Words {
				o.Words = append(o.Words, int(w))
			}
			v.Owners = append(v.Owners, o)
		}
		must(t, agg.Close())
	}
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must(t, e.Encode(v))
	if *update {
		must(t, os.MkdirAll("../../testkit/protocol", 0o755))
		must(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s holds other bytes; with -update it is written anew, which other implementations will notice", path)
	}
}
