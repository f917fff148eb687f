// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
)

// journal is a log to read.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// Helpers talk of sums, never of shares: from the first share to the opened sum, shares
// that contradict their proofs included, no eight bytes of a share stand in the log in
// any spelling.
func TestHelpersDoNotLogShares(t *testing.T) {
	a, err := identity.NewAuthority(time.Now(), 24*time.Hour)
	must(t, err)
	log := &journal{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := &committee{t: t, Committee: helpertest.New(t, logger, a, 3)}
	c.collector = c.Identity(identity.Combiner, "main")
	col, id, people := c.begin(6, 2, "logged")
	shares := people.shares
	spoilt := make([]secretsum.Share, len(shares[5]))
	for h, s := range shares[5] {
		spoilt[h] = s
		spoilt[h].Message = bytes.Clone(s.Message)
		spoilt[h].Message[len(s.Message)-1] ^= 1
	}
	col.Wait = given(5, 3)
	_, of, err := c.run(col, id, append(shares[:5:5], spoilt))
	must(t, err)
	if len(of) < 5 {
		t.Errorf("%d of 5 are in the sum", len(of))
	}
	text := log.String()
	if !strings.Contains(text, "a sum was opened") {
		t.Errorf("the log does not tell of the sum:\n%s", text)
	}
	for i, theirs := range shares {
		for h, s := range theirs {
			m := s.Message[len(s.Message)/6*3:] // points of polynomials; the proof before them is told to all
			for at := 0; at+9 <= len(m); at += 3 {
				eight := m[at : at+9]
				for _, way := range []string{
					string(eight[:8]), hex.EncodeToString(eight[:8]), base64.StdEncoding.EncodeToString(eight),
					strings.Trim(fmt.Sprint(eight[:8]), "[]"),
					strings.ReplaceAll(strings.Trim(fmt.Sprint(eight[:8]), "[]"), " ", ","),
				} {
					if strings.Contains(strings.ToLower(text), strings.ToLower(way)) {
						t.Fatalf("the log tells of the share of %d for helper %d:\n%s", i, h, text)
					}
				}
			}
		}
	}
}
