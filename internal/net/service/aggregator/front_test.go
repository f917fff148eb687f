// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/testkit/nettest"
)

// front is a network at an address that stays, in front of whatever process
// serves. Connections of a process that died are cut.
type front struct {
	*nettest.Network
	url string

	mu sync.Mutex
	to string // host:port; "" while no one serves
}

func newFront(t *testing.T, f *federation, faults nettest.Faults) *front {
	t.Helper()
	fr := &front{to: strings.TrimPrefix(f.http.URL, "https://")}
	var err error
	fr.Network, err = nettest.New(func() string {
		fr.mu.Lock()
		defer fr.mu.Unlock()
		return fr.to
	}, 1, faults)
	must(t, err)
	fr.url = "https://" + fr.Address()
	t.Cleanup(func() { fr.Close() })
	return fr
}

func (fr *front) lead(to string) {
	fr.mu.Lock()
	defer fr.mu.Unlock()
	fr.to = to
}

// swap lets another process serve.
func (fr *front) swap(f *federation) {
	fr.lead("")
	fr.Drop()
	f.serve()
	fr.lead(strings.TrimPrefix(f.http.URL, "https://"))
}
