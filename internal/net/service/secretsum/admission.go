// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/jsontext"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// Admission is what an aggregator must show a helper before its sum begins: the task as announced by
// an operator, and the list of owners that the announcement names. A helper uses the task to find out
// whose sums it permits, and does not interpret its questions.
type Admission struct {
	Announcement []byte
	Signature    identity.Signature // of an operator
	List         []byte             // the owners' keys, in ascending order
}

// MaxList is the largest number of owners in the list of a task with secret sums.
const MaxList = 250_000

// announced is the part of an announcement that concerns sums. An operator has signed its bytes, so
// that it cannot be altered.
type announced struct {
	Discreet string `json:"discreet"`
	Minimum  int    `json:"minimum"`
	Slot     int64  `json:"slot_ms"`
	Ends     int64  `json:"ends_unix"`
	Roster   string `json:"roster"`
	Proofs   bool   `json:"proofs"`
	Helpers  []struct {
		Name string `json:"name"`
	} `json:"helpers"`
	Task json.RawMessage `json:"task"`
}

// announcementPurpose is the purpose of operators' signatures, as in package tasks.
const announcementPurpose = "discreet announcement 1"

// Check refuses a sum that does not match the announced task: one with owners who are not listed, with
// too few or too many owners, with other helpers, or with another end.
func (a *Admission) Check(reader *identity.Identity, s *Sum, at time.Time) error {
	refuse := func(format string, args ...any) error { return fmt.Errorf("sum: "+format, args...) }
	switch who, err := reader.Verify(a.Signature, announcementPurpose, a.Announcement, at); {
	case err != nil:
		return err
	case who.Role != identity.Operator:
		return refuse("its task is signed by %s, want an operator", who)
	}
	var t announced
	if jsontext.Usual.Check(a.Announcement) != nil || json.Unmarshal(a.Announcement, &t) != nil || t.Discreet != "announcement" {
		return errors.New("sum: the signed text is not an announcement")
	}
	list, task := sha256.Sum256(a.List), sha256.Sum256(append(bytes.TrimSpace(t.Task), '\n'))
	names := make([]string, len(t.Helpers))
	for i, h := range t.Helpers {
		names[i] = h.Name
	}
	switch {
	case hex.EncodeToString(list[:]) != t.Roster:
		return refuse("the list of owners is another than the operator has signed")
	case len(a.List) > MaxList*len(Key{}):
		return refuse("a list has at most %d owners (got %d)", MaxList, len(a.List)/len(Key{}))
	case !strings.HasPrefix(s.Round, hex.EncodeToString(task[:])+" slot "):
		return refuse("it is not one of the task's")
	case len(s.Roster) < t.Minimum:
		return refuse("its roster must have at least the announced %d owners (got %d)", t.Minimum, len(s.Roster))
	case !slices.EqualFunc(s.Helpers, names, func(h Helper, name string) bool { return h.Name == name }):
		return refuse("its helpers must be the announced ones")
	case s.Proofs != t.Proofs:
		return refuse("it must demand proofs of ranges if its task does, and only then")
	case at.Unix() >= t.Ends+int64(t.Slot/1000)+int64(Skew/time.Second):
		return refuse("its task has ended")
	case s.Ends.After(Latest(at, time.Duration(t.Slot)*time.Millisecond)):
		return refuse("it must end by %s", Latest(at, time.Duration(t.Slot)*time.Millisecond).UTC().Format(time.RFC3339))
	}
	for i, k := range s.Roster {
		if !isListed(a.List, k) {
			return refuse("participant %d is not on the task's list of owners", i)
		}
	}
	if !s.Ordered() {
		return refuse("its owners must ascend by their keys")
	}
	return nil
}

// isListed reports whether a key is on a list in ascending order.
func isListed(list []byte, k Key) bool {
	at := func(i int) []byte { return list[i*len(k):][:len(k)] }
	n := len(list) / len(k)
	i := sort.Search(n, func(i int) bool { return bytes.Compare(at(i), k[:]) >= 0 })
	return i < n && bytes.Equal(at(i), k[:])
}

// AdmissionOf reads an admission from a request.
func AdmissionOf(r *rpc.BeginRequest) *Admission {
	t := r.GetTask()
	return &Admission{t.GetAnnouncement(), identity.Signature{Certificate: t.GetCertificate(), Value: t.GetSignature()},
		r.GetList()}
}
