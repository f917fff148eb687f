// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/jsontext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Version is the version of these messages. Processes with different versions refuse each other.
const Version = 1

// MaxSites is the largest number of sites in a training.
const MaxSites = mech.MaxHonest

// MaxLabel is the length of the longest label of a measurement, in bytes.
const MaxLabel = 1 << 10

// Digest is a SHA-256 in hexadecimal digits.
type Digest string

// digestOf hashes a text together with its purpose.
func digestOf(purpose string, parts ...[]byte) Digest {
	h := sha256.New()
	fmt.Fprintf(h, "discreet sites %d %s\n", Version, purpose)
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n", len(p))
		h.Write(p)
	}
	return Digest(hex.EncodeToString(h.Sum(nil)))
}

// SchemaDigest hashes a schema. Comments and the order of keys in its file do not matter.
func SchemaDigest(s *schema.Schema) (Digest, error) {
	text, err := s.YAML()
	return digestOf("schema", text), err
}

// Member is a site and its signing key.
type Member struct {
	Name string `json:"name"`
	Key  []byte `json:"key"` // Ed25519
}

// Training is a coordinator's offer to its sites.
type Training struct {
	Version     int        `json:"version"`
	ID          string     `json:"id"` // random and unique
	Coordinator string     `json:"coordinator"`
	Schema      Digest     `json:"schema"`
	Scope       dp.Scope   `json:"scope"`
	Epsilon     dp.Epsilon `json:"epsilon_nano"`
	Delta       dp.Delta   `json:"delta_femto"`
	Bill        []dp.Event `json:"bill"`
	Sites       []Member   `json:"sites"`
	Honest      int        `json:"honest"`
	// MayLeave is how many sites may leave once the training has begun. If some may, no mask hides an answer,
	// which therefore has all the noise that its rows need.
	MayLeave int `json:"may_leave,omitempty"`
	// Evaluation is nil for a training. Otherwise held-out rows are measured, by the cells of their
	// scores.
	Evaluation *Evaluation `json:"evaluation,omitempty"`
}

// Evaluation is a measurement of models that a coordinator offers in place of a training.
type Evaluation struct {
	Models    [][]byte `json:"models"` // files of one model, or of two to compare
	Threshold float64  `json:"threshold"`
	Delta     dp.Delta `json:"delta_femto"`  // as requested; the training's δ is what is spent
	By        string   `json:"by,omitempty"` // the column of groups; "" for none
}

// Terms returns the terms with which a site's guard is opened.
func (t *Training) Terms() guard.Terms {
	return guard.Terms{Op: "site", Scope: t.Scope, Price: dp.Price{Epsilon: t.Epsilon, Delta: t.Delta}, Bill: t.Bill}
}

// Check refuses a training that no site can take part in.
func (t *Training) Check() error {
	refuse := dp.RefuseFor("sites")
	switch {
	case t.Version != Version:
		return refuse("version", fmt.Sprintf("must be %d", Version), t.Version)
	case len(t.ID) != 32:
		return refuse("id", "must be 32 characters", len(t.ID))
	case len(t.Sites) < 2 || len(t.Sites) > MaxSites:
		return refuse("sites", fmt.Sprintf("must number 2 to %d", MaxSites), len(t.Sites))
	case t.Honest < 1 || t.Honest > len(t.Sites):
		return refuse("honest", "must be 1 to the number of sites", t.Honest)
	case t.MayLeave < 0 || t.MayLeave > len(t.Sites)-2:
		return refuse("may-leave", "must leave two sites", t.MayLeave)
	case t.MayLeave > 0 && t.Honest != 1: // 2.4
		return refuse("honest", "must be 1 if sites may leave: each answer shows, with all the noise that its rows need", t.Honest)
	case t.MayLeave > 0 && t.Evaluation != nil:
		return refuse("may-leave", "must be 0 in an evaluation, whose numbers are of the same rows", t.MayLeave)
	case t.Epsilon < 1 || t.Epsilon > dp.MaxEpsilon:
		return refuse("epsilon", "must be > 0 and at most "+dp.MaxEpsilon.String(), t.Epsilon)
	case t.Delta < 0 || t.Delta > dp.MaxDelta:
		return refuse("delta", "must be at least 0 and below 1", t.Delta)
	}
	for _, line := range t.Bill {
		if len(line.Release) > MaxLabel || len(line.Mechanism) > MaxLabel {
			return refuse("bill", fmt.Sprintf("must have labels of at most %d bytes", MaxLabel), max(len(line.Release), len(line.Mechanism)))
		}
	}
	names, keys := map[string]bool{}, map[string]bool{}
	for _, m := range t.Sites {
		if m.Name == "" || names[m.Name] || keys[string(m.Key)] || len(m.Key) != ed25519.PublicKeySize {
			return refuse("sites", "must each have a name and a key of their own", fmt.Sprintf("%.80q", m.Name))
		}
		names[m.Name], keys[string(m.Key)] = true, true
	}
	return guard.CheckAcross(t.Terms())
}

// Joined is a site's consent to a training, with its fresh key for masks.
type Joined struct {
	Site      string `json:"site"`
	Fresh     []byte `json:"fresh"` // X25519
	Units     int    `json:"units"` // the site's rows or persons, if their number is public; else 0
	Signature []byte `json:"signature"`
}

func (j *Joined) text(training Digest) []byte {
	return []byte(digestOf("joined", []byte(training), []byte(j.Site), j.Fresh, []byte(strconv.Itoa(j.Units))))
}

// Set lists all sites of a training with their fresh keys, in the training's order.
type Set struct {
	Training Digest   `json:"training"`
	Joined   []Joined `json:"joined"`
}

// Check refuses a set whose members are not exactly the training's, each with a valid signature.
func (s *Set) Check(t *Training, training Digest) error {
	if s.Training != training || len(s.Joined) != len(t.Sites) {
		return fmt.Errorf("sites: the set must be that of the training, signed by every site")
	}
	fresh := map[string]bool{}
	for i := range s.Joined {
		j, m := &s.Joined[i], &t.Sites[i]
		if j.Site != m.Name || fresh[string(j.Fresh)] || j.Units < 0 || j.Units > maxUnits || !ed25519.Verify(m.Key, j.text(training), j.Signature) {
			return fmt.Errorf("sites: the set must have what %.80q signed for this training", m.Name)
		}
		fresh[string(j.Fresh)] = true
	}
	return nil
}

// maxUnits is the most rows or persons of a site: the sum over MaxSites stays an int.
const maxUnits = 1 << 40

// Units is the number of rows or persons of all sites, if each site's is public; else 0.
func (s *Set) Units() (all int) {
	for i := range s.Joined {
		all += s.Joined[i].Units
	}
	return all
}

// Ask is one measurement.
type Ask struct {
	Training  Digest            `json:"training"`
	Number    int               `json:"number"` // consecutive from 1
	Label     string            `json:"label"`
	Epsilon   dp.Epsilon        `json:"epsilon_nano,omitempty"`
	Rho       dp.Rho            `json:"rho_pico,omitempty"`
	Questions []json.RawMessage `json:"questions"`
	Forms     []AskedForm       `json:"forms"`
}

// AskedForm is a guard.Form about one of the questions.
type AskedForm struct {
	Question int        `json:"question"`
	View     guard.View `json:"view"`
	Part     int        `json:"part"`
	Runs     []int      `json:"runs,omitempty"`
}

// Share returns the price of the measurement.
func (a *Ask) Share() guard.Share { return guard.Share{Epsilon: a.Epsilon, Rho: a.Rho} }

// Decode reads a message in JSON. It refuses unknown fields and trailing data.
func Decode(text []byte, to any) error {
	if err := jsontext.Usual.Decode(text, to); err != nil {
		return fmt.Errorf("sites: malformed message: %w", err)
	}
	return nil
}

// TrainingDigest returns the digest of a training's text, SetDigest that of a set's, and AskDigest
// that of a measurement's.
func TrainingDigest(text []byte) Digest { return digestOf("training", text) }
func SetDigest(text []byte) Digest      { return digestOf("set", text) }
func AskDigest(text []byte) Digest      { return digestOf("ask", text) }
