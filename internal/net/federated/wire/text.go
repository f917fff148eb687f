// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/jsontext"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// version is the version of all messages. It changes with the meaning of any byte.
const version = 1

// MaxText is the size of the largest task or round.
const MaxText = 64 << 20

// Bounds returns the bounds of a task, a round or an announcement. A round may have long lists of short numbers.
func Bounds(text []byte) jsontext.Bounds {
	return jsontext.Bounds{Elements: 2*jsontext.Usual.Elements + len(text)/16, Objects: jsontext.Usual.Objects + len(text)/64}
}

// Digest identifies a task: the SHA-256 of its bytes.
type Digest [32]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// taskBody is a task's text, separate from the layout of Task so that each may change without the
// other.
type taskBody struct {
	Discreet   string          `json:"discreet"` // "local task"
	Version    int             `json:"version"`
	Nonce      string          `json:"nonce"`
	Mode       Mode            `json:"mode"`
	Classifier Classifier      `json:"classifier"`
	Mechanism  string          `json:"mechanism"`
	Epsilon    dp.Epsilon      `json:"epsilon_nano"`
	WeightCap  float64         `json:"weight_cap"`
	Rounds     []Shares        `json:"rounds"`
	Questions  []Question      `json:"questions"`
	Schema     json.RawMessage `json:"schema"` // in the JSON form of package schema
}

type roundBody struct {
	Discreet string   `json:"discreet"` // "local round"
	Version  int      `json:"version"`
	Task     string   `json:"task"`
	Slot     int      `json:"slot"`
	Crowd    *Crowd   `json:"crowd,omitempty"`
	Asks     []Ask    `json:"asks"`
	Members  []Member `json:"members"`
}

const (
	taskTitle  = "local task"
	roundTitle = "local round"
)

// Text returns the task's bytes. It fails for a task that Check refuses.
func (t *Task) Text() ([]byte, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t.encodeText()
}

func (t *Task) encodeText() ([]byte, error) {
	s, err := t.Schema.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("task: schema: %w", err)
	}
	return encodeJSON(&taskBody{taskTitle, version, t.Nonce, t.Mode, t.Classifier, t.Mechanism, t.Epsilon, t.WeightCap,
		t.Rounds, t.Questions, s})
}

// Digest returns the task's digest.
func (t *Task) Digest() (Digest, error) {
	text, err := t.encodeText()
	return sha256.Sum256(text), err
}

// ParseTask accepts exactly what Text writes.
func ParseTask(text []byte) (*Task, error) {
	var b taskBody
	if err := decodeJSON("task", text, &b); err != nil {
		return nil, err
	}
	if b.Discreet != taskTitle || b.Version != version {
		return nil, fmt.Errorf("task: must be a %s of version %d (got %.40q, version %d)", taskTitle, version, b.Discreet,
			b.Version)
	}
	s := new(schema.Schema)
	if err := s.UnmarshalJSON(b.Schema); err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	t := &Task{b.Nonce, b.Mode, b.Classifier, b.Mechanism, b.Epsilon, s, b.Questions, b.Rounds, b.WeightCap}
	if err := t.Check(); err != nil {
		return nil, err
	}
	again, err := t.encodeText()
	if err != nil {
		return nil, err
	}
	return t, checkCanonical("task", again, text)
}

// Text returns the round's bytes. It fails for a round that is not the task's.
func (r *Round) Text(t *Task) ([]byte, error) {
	if err := r.Check(t); err != nil {
		return nil, err
	}
	return encodeJSON(r.encodeBody())
}

func (r *Round) encodeBody() *roundBody {
	b := &roundBody{roundTitle, version, r.Task, r.Slot, r.Crowd, r.Asks, r.Members}
	if b.Asks == nil {
		b.Asks = []Ask{}
	}
	if b.Members == nil {
		b.Members = []Member{}
	}
	return b
}

// ParseRound accepts exactly what Text writes for this task.
func ParseRound(t *Task, text []byte) (*Round, error) {
	var b roundBody
	if err := decodeJSON("round", text, &b); err != nil {
		return nil, err
	}
	if b.Discreet != roundTitle || b.Version != version {
		return nil, fmt.Errorf("round: must be a %s of version %d (got %.40q, version %d)", roundTitle, version, b.Discreet,
			b.Version)
	}
	r := &Round{b.Task, b.Slot, b.Asks, b.Crowd, b.Members}
	if err := r.Check(t); err != nil {
		return nil, err
	}
	again, err := encodeJSON(r.encodeBody())
	if err != nil {
		return nil, err
	}
	return r, checkCanonical("round", again, text)
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return b.Bytes(), nil
}

func decodeJSON(what string, text []byte, into any) error {
	if len(text) > MaxText {
		return fmt.Errorf("%s: must have at most %d bytes (got %d)", what, MaxText, len(text))
	}
	if err := Bounds(text).Decode(text, into); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// checkCanonical replaces a list of rules: no missing, repeated or misspelt field, only one spelling
// of a number or a text, no trailing data.
func checkCanonical(what string, canonical, text []byte) error {
	if !bytes.Equal(canonical, text) {
		return fmt.Errorf("%s: must be in canonical form", what)
	}
	return nil
}
