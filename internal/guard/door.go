// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// door is what a training and those inside it share: one lock, behind which prices are taken from
// purses and rows are settled, the exit, and the context that ends their questions.
type door struct {
	mu   sync.Mutex
	exit inside.Sealed[*mech.Exit]
	ctx  context.Context
	stop context.CancelFunc
}

// until makes the context of later questions. It ends with ctx, but nothing calls ctx to learn that.
func (d *door) until(ctx context.Context) context.CancelFunc {
	own, stop := context.WithCancel(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx, d.stop = own, stop
	return stop
}

func (d *door) context() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ctx
}

// spend takes the price of one release from the purse, and then makes it.
func (g *core) spend(label, mechanism string, s Share, release func(*mech.Exit)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.purse.take(label, mechanism, s); err != nil {
		return err
	}
	release(g.exit())
	return nil
}

// setAside takes the price of an inner training from the purse.
func (g *core) setAside(label string, price dp.Price) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.purse.part(label, price)
}

// settle replaces the rows. change sees them as the last change left them.
func (g *core) settle(change func(r rows, exit *mech.Exit) (rows, error)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, err := change(*g.settled.Load(), g.exit())
	if err == nil {
		g.settled.Store(&r)
	}
	return err
}

// coins are drawn behind the door.
type coins struct{ of *door }

func (c coins) Uint64() uint64 {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.of.exit().Public().Uint64()
}

func (c coins) Seeded() bool { return c.of.exit().Seeded() }
