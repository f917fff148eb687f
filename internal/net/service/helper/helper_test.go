// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// No goroutine is left behind, whatever a test has killed.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// committee is helpers and a collector.
type committee struct {
	*helpertest.Committee
	t         *testing.T
	collector *identity.Identity
}

func assemble(t *testing.T, helpers int) *committee {
	t.Helper()
	a, err := identity.NewAuthority(time.Now(), 24*time.Hour)
	must(t, err)
	c := &committee{Committee: helpertest.New(t, slog.New(slog.DiscardHandler), a, helpers), t: t}
	c.collector = c.Identity(identity.Combiner, "main")
	return c
}

// people are participants with keys, vectors and their shares.
type people struct {
	keys    []ed25519.PrivateKey
	vectors [][]uint64
	shares  [][]secretsum.Share
}

const length = 5

// begin makes a sum of n people's vectors.
func (c *committee) begin(n, atLeast int, round string) (*secretsum.Collection, secretsum.ID, *people) {
	c.t.Helper()
	col := &secretsum.Collection{Clients: c.Clients(c.collector), Patience: time.Second}
	col.Sum = &secretsum.Sum{Round: round, Helpers: c.Meet(col.Clients), Length: length, Range: 1000, AtLeast: atLeast,
		Ends: time.Now().Add(time.Hour).Truncate(time.Second)}
	p := &people{}
	for i := range n {
		seed := make([]byte, ed25519.SeedSize)
		seed[0], seed[1] = byte(i), byte(i>>8)
		key := ed25519.NewKeyFromSeed(seed)
		p.keys = append(p.keys, key)
		col.Sum.Roster = append(col.Sum.Roster, secretsum.Key(key.Public().(ed25519.PublicKey)))
	}
	var err error
	col.Signed, err = col.Sum.Sign(c.collector)
	must(c.t, err)
	id, err := col.Sum.ID()
	must(c.t, err)
	proto, err := col.Sum.Protocol()
	must(c.t, err)
	src := replay.Seeded(7, round)
	for i, key := range p.keys {
		v := make([]uint64, length)
		for j := range v {
			v[j] = uint64(100*i+j) % 1000
		}
		ms, err := proto.Split(src, i, v)
		must(c.t, err)
		var sealed []secretsum.Share
		for _, m := range ms {
			s, err := secretsum.Seal(m, key)
			must(c.t, err)
			sealed = append(sealed, s)
		}
		p.vectors, p.shares = append(p.vectors, v), append(p.shares, sealed)
	}
	return col, id, p
}

// total is the sum of some people's vectors.
func (p *people) total(of []int) []uint64 {
	out := make([]uint64, length)
	for _, i := range of {
		for j, v := range p.vectors[i] {
			out[j] += v
		}
	}
	return out
}

// given waits until so many shares are at so many helpers.
func given(shares, helpers int) func(context.Context, func(context.Context) []int) error {
	return func(ctx context.Context, progress func(context.Context) []int) error {
		for {
			full := 0
			for _, n := range progress(ctx) {
				if n >= shares {
					full++
				}
			}
			if full >= helpers {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

// run collects while people deliver.
func (c *committee) run(col *secretsum.Collection, id secretsum.ID,
	shares [][]secretsum.Share) (total []uint64, of []int, err error) {
	c.t.Helper()
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(c.t.Context())
	defer wg.Wait()
	defer cancel()
	clients := c.Clients(c.Identity(identity.Owner, "o"))
	wg.Go(func() { secretsum.Deliver(ctx, id, clients, shares) })
	return col.Run(ctx)
}

func TestSumOverTheNetwork(t *testing.T) {
	c := assemble(t, 3)
	col, id, p := c.begin(6, 4, "a")
	col.Wait = given(6, 3)
	total, of, err := c.run(col, id, p.shares)
	must(t, err)
	if !slices.Equal(of, []int{0, 1, 2, 3, 4, 5}) || !slices.Equal(total, p.total(of)) {
		t.Errorf("%v of %v, want %v", total, of, p.total(of))
	}
}
