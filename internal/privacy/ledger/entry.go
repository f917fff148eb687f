// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Kind says what an entry records.
type Kind string

const (
	Created   Kind = "created"   // the ledger itself
	Declared  Kind = "declared"  // a data set and its total
	Defined   Kind = "defined"   // how the cells of a data set's cohort column are read
	Reserved  Kind = "reserved"  // a job asked, and was granted, its price
	Began     Kind = "began"     // from here on private data may have been read: spent
	Refunded  Kind = "refunded"  // reading never began: the price is free again
	Committed Kind = "committed" // the result's bytes are in the ledger
	Published Kind = "published" // the result has its file
	Closed    Kind = "closed"    // spent, and there will be no result
	Appointed Kind = "appointed" // a key has a role
	Allotted  Kind = "allotted"  // an analyst's key has a part of the total
	Requested Kind = "requested" // an analyst asks for an approval of a job
	Approved  Kind = "approved"  // the job may be charged
	Refused   Kind = "refused"   // the job will not be charged
)

// Entry is one line of the ledger. Entries are never changed or removed.
type Entry struct {
	Seq     int64           `json:"seq"` // 1, 2, 3, ...
	At      string          `json:"at"`  // RFC 3339, UTC; information only, clocks go backwards
	Kind    Kind            `json:"kind"`
	Dataset string          `json:"dataset,omitempty"`
	Part    string          `json:"part,omitempty"`    // of the data set that the job reads, or cohorts; "" for all of it
	Job     string          `json:"job,omitempty"`     // as the operator spells it
	Request string          `json:"request,omitempty"` // hash of data set identity, configuration and Job
	Epsilon dp.Epsilon      `json:"epsilon_nano"`      // the total, or the job's price
	Delta   dp.Delta        `json:"delta_femto"`       // likewise, in units of 1e-15
	Detail  json.RawMessage `json:"detail"`
	Prev    string          `json:"prev"` // hash of the entry before, "" for the first
	Hash    string          `json:"hash"` // of everything above
}

// hashEntry is the entry's hash. Every field is preceded by its length, so that no
// two entries have the same encoding.
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

// What the entries of each kind say in Detail.
type (
	created struct {
		Format int    `json:"format"`
		ID     string `json:"id"` // random: two ledgers never share an entry
	}
	declared struct {
		Note string `json:"note,omitempty"`
		Unit string `json:"unit,omitempty"`
		// Parts is nil if the data set has none.
		Parts *Parts `json:"parts,omitempty"`
		// CohortBy is the public column by which rows are in cohorts; "" if they are in none.
		CohortBy string `json:"cohort_by,omitempty"`
	}
	defined struct {
		Definition string `json:"definition"` // a hash, as in Request
	}
	reserved struct {
		Terms  Terms  `json:"terms"`
		Bill   []line `json:"bill"`        // by mechanism, in order of first use
		Sum    string `json:"bill_sha256"` // of the whole bill as JSON
		Output string `json:"output,omitempty"`
		Worker string `json:"worker,omitempty"`
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

// encodeDetail encodes what our own types hold: strings and integers, which always
// encode.
func encodeDetail(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Head names the newest entry, and with it all entries before: whoever keeps a
// head elsewhere notices a ledger that was cut short or put back.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
