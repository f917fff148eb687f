// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/jsontext"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// Query is a combiner's request, the same for every party.
type Query struct {
	Job    string // the combination's name, unique for its combiner
	Params multiparty.Params
	Schema multiparty.Digest // digest of the auxiliary table's schema file
	Tables []Table           // the files of the auxiliary table, in order
	Kind   multiparty.Kind   // what to hand in, or to add up
	// Honest is 0 if votes are handed in. Otherwise the parties make a secret sum, and Honest is the
	// minimum number of parties that add their noise correctly.
	Honest int
	// Deadline is the end of the query, in whole seconds.
	Deadline time.Time
}

// Table is one file of the auxiliary table.
type Table struct {
	Digest multiparty.Digest `json:"sha256"`
	Bytes  int64             `json:"bytes"`
	Format Format            `json:"format"`
}

// Format is the format of a file of rows.
type Format string

// The formats. CSV may be gzip.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

const (
	maxTables = 64
	maxBytes  = 1 << 40
	// maxText is the longest query.
	maxText = 1 << 16
	// maxAhead is how far in the future a deadline may be.
	maxAhead = 30 * 24 * time.Hour
)

var jobName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Aux returns the digest of the auxiliary table, as in votes files.
func (q *Query) Aux() (d multiparty.Digest) {
	h := sha256.New()
	for _, t := range q.Tables {
		h.Write(t.Digest[:])
	}
	h.Sum(d[:0])
	return d
}

// Check refuses an invalid query.
func (q *Query) Check() error {
	fault := dp.RefuseFor("query")
	average := q.Params.Method == multiparty.Average
	switch {
	case !jobName.MatchString(q.Job):
		return fault("job", "must be 1 to 128 letters, digits, dots, hyphens and underscores", fmt.Sprintf("%.200q", q.Job))
	case q.Params.NotPrivate || q.Params.Epsilon < 1 || q.Params.Epsilon > dp.MaxEpsilon:
		return fault("epsilon", "must be > 0 and at most "+dp.MaxEpsilon.String()+
			": parties vote for nothing that does not protect them", q.Params.Epsilon)
	case q.Params.Parties < 1:
		return fault("parties", "must be at least 1", q.Params.Parties)
	case q.Params.Method != multiparty.Soft && q.Params.Method != multiparty.Majority && !average &&
		q.Params.Method != multiparty.NoisyMax:
		return fault("method", "must be soft, majority, average or noisy-max", fmt.Sprintf("%.40q", q.Params.Method))
	case q.Kind != multiparty.Labels && q.Kind != multiparty.Probabilities && q.Kind != multiparty.Coefficients:
		return fault("kind", "must be labels, probabilities or coefficients", fmt.Sprintf("%.40q", q.Kind))
	case average != (q.Kind == multiparty.Coefficients):
		return fault("kind", "must be coefficients with method average, and only there", q.Kind)
	case q.Honest < 0 || q.Honest > q.Params.Parties:
		return fault("honest", "must be at least 0 and at most the parties", q.Honest)
	case q.Honest > 0 && (q.Params.Method != multiparty.Soft || q.Params.Form != multiparty.Statistic):
		return fault("method", "must be soft, of form statistic, for a secret sum", q.Params.Method)
	case len(q.Tables) < 1 || len(q.Tables) > maxTables:
		return fault("tables", fmt.Sprintf("must be 1 to %d files", maxTables), len(q.Tables))
	case q.Deadline.Nanosecond() != 0 || q.Deadline.Unix() <= 0:
		return fault("deadline", "must be a time in whole seconds", q.Deadline)
	}
	for _, t := range q.Tables {
		switch {
		case t.Bytes < 1 || t.Bytes > maxBytes:
			return fault("tables", fmt.Sprintf("must have 1 to %d bytes", maxBytes), t.Bytes)
		case t.Format != CSV && t.Format != Parquet:
			return fault("tables", "must be csv or parquet", fmt.Sprintf("%.40q", t.Format))
		}
	}
	return nil
}

// queryText is a query's JSON.
type queryText struct {
	Discreet string            `json:"discreet"` // "votes query"
	Version  int               `json:"version"`
	Job      string            `json:"job"`
	Params   multiparty.Params `json:"params"`
	Schema   multiparty.Digest `json:"schema_sha256"`
	Tables   []Table           `json:"tables"`
	Kind     multiparty.Kind   `json:"kind"`
	Honest   int               `json:"honest"`
	Deadline int64             `json:"deadline_unix"`
}

const (
	title   = "votes query"
	version = 1
)

// encodeText returns the query's bytes, without checking it.
func (q *Query) encodeText(deadline int64) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(queryText{title, version, q.Job, q.Params, q.Schema, q.Tables, q.Kind, q.Honest, deadline})
	return b.Bytes(), err
}

// Text returns the query's bytes. It fails for a query that Check refuses.
func (q *Query) Text() ([]byte, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	return q.encodeText(q.Deadline.Unix())
}

// ParseQuery accepts exactly what Text writes.
func ParseQuery(text []byte) (*Query, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("query: must have at most %d bytes (got %d)", maxText, len(text))
	}
	var t queryText
	if err := jsontext.Usual.Decode(text, &t); err != nil {
		return nil, fmt.Errorf("query: must be one line of JSON with the fields of this version")
	}
	if t.Discreet != title || t.Version != version {
		return nil, fmt.Errorf("query: must be of version %d (got %.40q, version %d)", version, t.Discreet, t.Version)
	}
	q := &Query{t.Job, t.Params, t.Schema, t.Tables, t.Kind, t.Honest, time.Unix(t.Deadline, 0)}
	again, err := q.Text()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, text) {
		return nil, fmt.Errorf("query: must be in canonical form")
	}
	return q, nil
}

// ID identifies a query of one combiner. It does not depend on the deadline.
type ID [sha256.Size]byte

func (i ID) String() string { return fmt.Sprintf("%x", i[:]) }

func (q *Query) queryID(who identity.Caller) (ID, error) {
	text, err := q.encodeText(0)
	return sha256.Sum256(append([]byte(who.String()+"\n"), text...)), err
}

// Purpose separates signatures of queries from others.
const Purpose = "discreet votes query 1"

// Signed is a query's bytes under a combiner's signature.
type Signed struct {
	Text      []byte
	Signature identity.Signature
}

// Sign signs a query.
func (q *Query) Sign(combiner *identity.Identity) (Signed, error) {
	text, err := q.Text()
	if err != nil {
		return Signed{}, err
	}
	s, err := combiner.Sign(Purpose, text)
	return Signed{text, s}, err
}

// Open verifies a signed query and returns it with its combiner. It refuses signatures of other roles.
func (s Signed) Open(reader *identity.Identity, at time.Time) (*Query, identity.Caller, error) {
	who, err := reader.Verify(s.Signature, Purpose, s.Text, at)
	if err != nil {
		return nil, who, fmt.Errorf("query: %w", err)
	}
	if who.Role != identity.Combiner {
		return nil, who, fmt.Errorf("query: signed by %s, want a combiner", who)
	}
	q, err := ParseQuery(s.Text)
	return q, who, err
}
