// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Kind is the kind of step that an entry records.
type Kind string

const (
	Created   Kind = "created"   // the ledger itself
	Declared  Kind = "declared"  // a data set and its total
	Defined   Kind = "defined"   // how the cells of a data set's cohort column are read
	Divided   Kind = "divided"   // the data set holds one side of a table, and how its units were dealt
	Bounded   Kind = "bounded"   // the institution whose rows the data set holds has a total, too
	Reserved  Kind = "reserved"  // a job's price was requested and granted
	Began     Kind = "began"     // private data may have been read from here on: the price is spent
	Refunded  Kind = "refunded"  // reading never began: the price is available again
	Committed Kind = "committed" // the result's bytes are in the ledger
	Published Kind = "published" // the result was written to its file
	Closed    Kind = "closed"    // the price is spent, and there will be no result
	Appointed Kind = "appointed" // a key has a role
	Allotted  Kind = "allotted"  // an analyst's key has a part of the total
	Requested Kind = "requested" // an analyst requests approval of a job
	Approved  Kind = "approved"  // the job may be charged
	Refused   Kind = "refused"   // the job will not be charged
)

// Entry is one line of the ledger. Entries are never changed or removed.
type Entry struct {
	Seq     int64           `json:"seq"` // 1, 2, 3, ...
	At      string          `json:"at"`  // RFC 3339, UTC; information only, since clocks can go backwards
	Kind    Kind            `json:"kind"`
	Dataset string          `json:"dataset,omitempty"`
	Part    string          `json:"part,omitempty"`    // the part or cohorts that the job reads; "" for all of the data set
	Job     string          `json:"job,omitempty"`     // as the operator spells it
	Request string          `json:"request,omitempty"` // hash of data set identity, configuration and Job
	Epsilon dp.Epsilon      `json:"epsilon_nano"`      // the total, or the job's price
	Delta   dp.Delta        `json:"delta_femto"`       // likewise, in units of 1e-15
	Detail  json.RawMessage `json:"detail"`
	Prev    string          `json:"prev"` // hash of the previous entry, "" for the first
	Hash    string          `json:"hash"` // of everything above
}

// hashEntry returns the entry's hash. Every field is preceded by its length, so that no two entries
// have the same encoding.
func (e *Entry) hashEntry() string {
	h := sha256.New()
	field := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	number := func(v int64) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(v))
		h.Write(n[:])
	}
	field("discreet ledger 2")
	number(e.Seq)
	for _, s := range []string{e.At, string(e.Kind), e.Dataset, e.Part, e.Job, e.Request} {
		field(s)
	}
	number(int64(e.Epsilon))
	number(int64(e.Delta))
	field(string(e.Detail))
	field(e.Prev)
	return hex.EncodeToString(h.Sum(nil))
}

// The contents of Detail for each kind of entry.
type (
	created struct {
		Format int    `json:"format"`
		ID     string `json:"id"` // random: no two ledgers share an entry
	}
	declared struct {
		Note string `json:"note,omitempty"`
		Unit string `json:"unit,omitempty"`
		// Parts is nil if the data set has none.
		Parts *Parts `json:"parts,omitempty"`
		// CohortBy is the public column that determines the cohort of a row; "" if there are no
		// cohorts.
		CohortBy string `json:"cohort_by,omitempty"`
	}
	defined struct {
		Definition string `json:"definition"` // a hash, as in Request
	}
	reserved struct {
		Terms  Terms  `json:"terms"`
		Bill   []line `json:"bill"`        // by mechanism, in order of first use
		Sum    string `json:"bill_sha256"` // hash of the whole bill as JSON
		Output string `json:"output,omitempty"`
		Worker string `json:"worker,omitempty"`
		// Institution is set if the price protects all rows of the institution together, and Exposed if it may be charged
		// although the institution is not protected.
		Institution bool `json:"institution,omitempty"`
		Exposed     bool `json:"exposed,omitempty"`
	}
	line struct {
		Mechanism string     `json:"mechanism"`
		Releases  int        `json:"releases"`
		Epsilon   dp.Epsilon `json:"epsilon_nano,omitempty"`
		Rho       dp.Rho     `json:"rho_pico,omitempty"`
		Delta     dp.Delta   `json:"delta_femto,omitempty"`
	}
	began struct {
		Terms Terms `json:"terms"`
	}
	committed struct {
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	closed struct {
		Reason string `json:"reason"`
	}
)

// encodeDetail encodes our own types, which contain strings and integers only and cannot fail to
// encode.
func encodeDetail(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Head identifies the newest entry, and through its hash all entries before it. A copy of the head
// outside the ledger makes it possible to detect a ledger that was truncated or restored to an older
// state.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
