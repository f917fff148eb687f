// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// endless is a source's words, byte by byte, for as long as someone reads.
type endless struct{ src Source }

func (e endless) Read(p []byte) (int, error) {
	n := len(p) / 8 * 8
	for at := 0; at < n; at += 8 {
		binary.LittleEndian.PutUint64(p[at:], e.src.Uint64())
	}
	return n, nil
}

// TestBattery lets dieharder (Debian: apt-get install dieharder), which holds the tests of
// NIST SP 800-22 and Marsaglia's, judge the words of System. It runs on request (make
// randomness), for hours: DISCREET_RANDOMNESS is its arguments, -a for everything. Of a
// perfect generator it calls about one p-value in 10^6 FAILED and one in 200 WEAK, so what
// fails is tried again.
func TestBattery(t *testing.T) {
	args := os.Getenv("DISCREET_RANDOMNESS")
	if args == "" {
		t.Skip("set DISCREET_RANDOMNESS to dieharder's tests, e.g. -a (make randomness)")
	}
	judge := func(src Source) string {
		cmd := exec.Command("dieharder", append(strings.Fields(args), "-g", "200")...)
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout = endless{src}, &out
		if err := cmd.Run(); err != nil && out.Len() == 0 {
			t.Fatal(err)
		}
		return out.String()
	}
	report := judge(System())
	t.Log("\n" + report)
	if !strings.Contains(report, "PASSED") {
		t.Error("nothing was judged")
	}
	if strings.Contains(report, "FAILED") {
		t.Error("the system's generator fails")
	}
	if bad := judge(&counter{}); !strings.Contains(bad, "FAILED") {
		t.Errorf("a counter passes:\n%s", bad)
	}
}

// counter is no generator.
type counter struct{ n uint64 }

func (c *counter) Uint64() uint64 { c.n++; return c.n }
func (c *counter) Seeded() bool   { return true }
