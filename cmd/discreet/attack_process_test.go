// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// attackMemory is what an aggregator may need whose collector is told 300 MiB: the
// program's own pages are not the collector's.
const attackMemory = 360 << 20

// TestCertificatesAttack lets one certificate hold three hundred connections whose
// messages do not come, and five others send two hundred bombs of four gibibytes each
// and two hundred messages of four mebibytes, all at once. The aggregator stays within
// its memory, and another certificate's owners report as if nothing were.
func TestCertificatesAttack(t *testing.T) {
	size.OnlyLong(t, "sends gibibytes; package admission has each bound")
	const owners, stalled, each = 600, 300, 200
	tr := newTrial(t, owners)
	certs := filepath.Join(tr.dir, "certs")
	a, err := identity.LoadAuthority(certs)
	if err != nil {
		t.Fatal(err)
	}
	attacker := func(i int) *identity.Identity {
		id, err := a.Issue(identity.Caller{Role: identity.Owner, Name: fmt.Sprintf("mallory-%d", i)}, nil, time.Now(),
			time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	t.Setenv("GOMEMLIMIT", "300MiB")
	serving := tr.serve()
	defer func() { serving.Process.Kill(); serving.Wait() }()
	task := tr.announce(owners, "--rounds", "1")

	slow := attacker(0).Client(identity.Aggregator)
	for range stalled {
		slow := slow.Clone()
		slow.NextProtos, slow.ServerName = []string{"http/1.1"}, "127.0.0.1"
		c, err := tls.Dial("tcp", tr.address, slow)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\nContent-Length: "+
			"4000000\r\n\r\n\n", rpc.AggregatorUploadProcedure); err != nil {
			t.Fatal(err)
		}
	}
	var zeros, bomb bytes.Buffer
	z := gzip.NewWriter(&zeros)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for bomb.Len()+zeros.Len() <= 4<<20 {
		bomb.Write(zeros.Bytes())
	}
	post := func(transport *http.Transport, body []byte, encoding string) {
		r, err := http.NewRequest(http.MethodPost, "https://"+tr.address+rpc.AggregatorUploadProcedure, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Content-Type", "application/proto")
		r.Header.Set("Content-Encoding", encoding)
		if answer, err := transport.RoundTrip(r); err == nil { // or cut off
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
	// 127 bytes a report
	full := bytes.Repeat(append([]byte{0x12, 0x81, 0x01, 0x0a, 0x7f}, make([]byte, 127)...), 4<<20/132)
	var attacking sync.WaitGroup
	for i := range 5 {
		transport := &http.Transport{TLSClientConfig: attacker(1 + i).Client(identity.Aggregator)}
		defer transport.CloseIdleConnections()
		for range each / 5 {
			attacking.Go(func() { post(transport, bomb.Bytes(), "gzip") })
			attacking.Go(func() { post(transport, full, "identity") })
		}
	}
	owning := tr.start("owner.log", "owner/clinic", tr.ownerArgs(task, "book.db", owners)...)
	closed := tr.closeWhenFull(task, owners, "book.db")
	if err := owning.Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(tr.dir, "owner.log"))
		t.Fatalf("%v\n%s", err, log)
	}
	closed()
	attacking.Wait()
	log, err := os.ReadFile(filepath.Join(tr.dir, "owner.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(log, []byte(fmt.Sprintf(`"accepted": %d`, owners))) {
		t.Errorf("not all %d owners were heard:\n%s", owners, log)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", serving.Process.Pid))
	if err != nil {
		t.Skip("no peak of memory is told here: ", err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	kb, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the aggregator needed %d MiB at most", kb>>10)
	if kb<<10 > attackMemory {
		t.Errorf("the aggregator needed %d MiB at most, want %d", kb>>10, attackMemory>>20)
	}
}
