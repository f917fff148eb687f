// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m.test/m\n\ngo 1.26\n",
		"federated/secsum/a.go": spelling} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	got, err := checkSecrets(m, dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range slices.Collect(strings.Lines(spelling)) {
		if strings.HasSuffix(strings.TrimSpace(line), "// want") {
			want = append(want, fmt.Sprintf("federated/secsum/a.go:%d:", i+1))
		}
	}
	slices.Sort(want)
	compare(t, got, want)
}
