// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// front is a plain TCP relay at an address that stays, in front of whatever
// process serves: what a load balancer is. Connections of a process that died
// are cut.
type front struct {
	t   *testing.T
	url string

	mu    sync.Mutex
	to    string // host:port; "" while nobody serves
	conns map[net.Conn]bool
	bad   *bad // nil: bytes are carried as they come
}

func newFront(t *testing.T, f *federation, network *bad) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	fr := &front{t: t, url: "https://" + l.Addr().String(), to: strings.TrimPrefix(f.http.URL, "https://"), conns: map[net.Conn]bool{}, bad: network}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go fr.relay(in)
		}
	}()
	return fr
}

func (fr *front) relay(in net.Conn) {
	defer in.Close()
	fr.mu.Lock()
	to := fr.to
	fr.mu.Unlock()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	fr.mu.Lock()
	fr.conns[in], fr.conns[out] = true, true
	fr.mu.Unlock()
	if fr.bad != nil {
		pieces, reset := fr.bad.fate()
		go fr.bad.carry(in, out, 0, false)
		fr.bad.carry(out, in, pieces, reset)
	} else {
		go func() {
			io.Copy(out, in)
			out.Close()
		}()
		io.Copy(in, out)
	}
	fr.mu.Lock()
	delete(fr.conns, in)
	delete(fr.conns, out)
	fr.mu.Unlock()
}

// swap lets another process serve.
func (fr *front) swap(f *federation) {
	fr.mu.Lock()
	fr.to = ""
	for c := range fr.conns {
		c.Close()
	}
	fr.mu.Unlock()
	f.serve()
	fr.mu.Lock()
	fr.to = strings.TrimPrefix(f.http.URL, "https://")
	fr.mu.Unlock()
}
