// SPDX-License-Identifier: Apache-2.0

package lint

import "testing"

// Lines that end in want spell something secret.
const spelling = `package secsum

import (
	"errors"
	"fmt"
	"log/slog"
)

type Message struct {
	From int
	Body []byte
}

type Holder struct {
	index int
	kept  []*Message
}

func (m *Message) String() string { return "" } // want

func (m Message) check() error { return nil }

func hex(b []byte) string { return "" }

func f(m Message, h *Holder, log *slog.Logger) error {
	log.Info("a share", "owner", m.From, "of", len(h.kept), "holder", h.index)
	fmt.Print(len(m.Body), h.index)
	log.Info("a share", "content", m.Body)           // want
	log.Debug("a share", "it", m)                    // want
	fmt.Print(hex(m.Body[:4]))                       // want
	fmt.Print(h)                                     // want
	fmt.Print(h.kept[0].Body[3])                     // want
	fmt.Print(string(h.kept[0].Body) == "")          // want
	fmt.Print([]any{h.kept})                         // want
	if err := m.check(); err != nil {
		return fmt.Errorf("a share of owner %d: %w", m.From, err)
	}
	if m.From == 3 {
		panic(m) // want
	}
	return errors.New(string(m.Body)) // want
}
`

func TestSecrets(t *testing.T) {
	tryLines(t, checkSecrets, "federated/secsum/a.go", files{"federated/secsum/a.go": spelling})
}
