// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// TestCombineLoad is the benchmark of combine as a whole process: the votes of
// DISCREET_COMBINE parties about a million rows of a hundred numbers. It prints
// what the process costs; making the files is left out.
func TestCombineLoad(t *testing.T) {
	parties, _ := strconv.Atoi(os.Getenv("DISCREET_COMBINE"))
	if parties < 1 {
		t.Skip("set DISCREET_COMBINE to a number of parties (make load-combine)")
	}
	const rows, columns = 1_000_000, 100
	dir := t.TempDir()
	if err := writeWide(dir, rows, columns); err != nil {
		t.Fatal(err)
	}
	aux, err := party.DigestOf(filepath.Join(dir, "aux.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "votes"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := multiparty.Header{Kind: multiparty.Labels, Levels: []string{"no", "yes"}, Rows: rows,
		Aux: (&party.Query{Tables: []party.Table{{Digest: aux}}}).Aux()}
	src, codes := replay.Seeded(2, "votes"), make([]uint8, rows)
	for k := range parties {
		seed := make([]byte, ed25519.SeedSize)
		seed[0], seed[1] = byte(k), byte(k>>8)
		h.Party = fmt.Sprintf("party%d", k)
		var w uint64
		for i := range codes {
			if i%64 == 0 {
				w = src.Uint64()
			}
			codes[i] = uint8(w >> (i % 64) & 1)
		}
		if err := clitest.WritePrivate(filepath.Join(dir, "votes", h.Party), func(to io.Writer) error {
			v, err := multiparty.NewWriter(to, h, ed25519.NewKeyFromSeed(seed))
			if err == nil {
				err = v.Labels(codes)
			}
			if err == nil {
				err = v.Close()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("discreet-net", "site", "vote", "--votes", "votes", "--aux", "aux.csv", "--schema", "aux.yaml", "--encoding",
		"ordinal", "--parties", strconv.Itoa(parties), "--epsilon", "1", "--model", "m.json")
	c.Dir = dir
	began := time.Now()
	out, err := c.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := c.ProcessState
	t.Logf("%d rows, %d columns, %d parties: %.1f s, of processor %.1f s and %.1f s for the system, %d MB at most",
		rows, columns, parties, took.Seconds(),
		s.UserTime().Seconds(), s.SystemTime().Seconds(), s.SysUsage().(*syscall.Rusage).Maxrss>>10)
}

// writeWide writes a table of numbers without labels, of a thousand values each,
// and its schema.
func writeWide(dir string, rows, columns int) error {
	var y strings.Builder
	y.WriteString("name: wide\nunit: one row\nrelation: replace-one\nfile: {delimiter: \",\", quote: '\"', header: " +
		"true, trim: false, missing: []}\ncolumns:\n")
	names := make([]string, columns)
	for j := range columns {
		names[j] = fmt.Sprintf("x%d", j)
		fmt.Fprintf(&y, "  - {name: %s, role: public, number: {lower: 0, upper: 999, default: 0}}\n", names[j])
	}
	y.WriteString("  - {name: y, role: public, label: {levels: [\"no\", \"yes\"], positive: \"yes\"}}\n")
	if err := os.WriteFile(filepath.Join(dir, "aux.yaml"), []byte(y.String()), 0o600); err != nil {
		return err
	}
	return clitest.WritePrivate(filepath.Join(dir, "aux.csv"), func(to io.Writer) error {
		w, src := bufio.NewWriter(to), replay.Seeded(1, "wide")
		if _, err := w.WriteString(strings.Join(names, ",") + "\n"); err != nil {
			return err
		}
		var line []byte
		for range rows {
			line = line[:0]
			for range columns {
				line = append(strconv.AppendUint(line, src.Uint64()%1000, 10), ',')
			}
			line[len(line)-1] = '\n'
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}
