// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/federated/secsum"
)

// Fault is one participant or helper who has deviated from the protocol. It is left
// out of the sum, which goes on without it. What is said here is proven by what the
// participant signed, or by what the helper cannot show.
type Fault struct {
	Participant int    // its number in the roster; -1 where a helper is at fault
	Helper      string // who has said so, or is at fault
	What        string
}

func (f Fault) String() string {
	if f.Participant < 0 {
		return fmt.Sprintf("helper %s %s", f.Helper, f.What)
	}
	return fmt.Sprintf("participant %d %s", f.Participant, f.What)
}

// accuseDeviants tells Found who has deviated, by what the helpers said. Helpers are asked once
// more about participants on whom they differ; those that do not answer in time are
// not found to have lied.
func (c *Collection) accuseDeviants(ctx context.Context, p *secsum.Protocol, id ID, said []Held) {
	collector := p.NewCollector()
	for h, one := range said {
		if one.Message.Kind == 0 {
			continue
		}
		if _, err := collector.Handle(one.Message); err != nil && errors.Is(err, secsum.ErrRefused) {
			c.Found(Fault{-1, c.Clients[h].name, "has sent what no honest helper sends"})
		}
		for _, f := range one.Faults {
			if of, proven := c.findContradiction(p, h, f); proven {
				c.Found(Fault{of, c.Clients[h].name, "gave helper " + c.Clients[h].name +
					" a share that contradicts its own proof"})
			} else {
				c.Found(Fault{-1, c.Clients[h].name, "accuses a participant without proof"})
			}
		}
	}
	disputed := collector.Disputed()
	if len(disputed) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	shown := make([]Held, len(c.Clients))
	eachClient(c.Clients, func(h int, client *Client) {
		if said[h].Message.Kind != 0 {
			shown[h], _ = client.Held(ctx, id, disputed...) // who does not answer shows nothing
		}
	})
	for _, of := range disputed {
		var first *Proof
		told := false
		for h, one := range shown {
			claimed := collector.Evidence(h, of)
			if claimed == nil || one.Message.Kind == 0 {
				continue
			}
			i := slices.IndexFunc(one.Proofs, func(p Proof) bool {
				return p.Participant == of && bytes.Equal(p.Digest[:], claimed) && p.Tag == said[h].Message.Task &&
					p.By(c.Sum.Roster[of])
			})
			switch {
			case i < 0:
				c.Found(Fault{-1, c.Clients[h].name, "claims a share whose proof it cannot show"})
			case first == nil:
				first = &one.Proofs[i]
			case first.Digest != one.Proofs[i].Digest && !told:
				told = true
				c.Found(Fault{of, c.Clients[h].name, "gave helpers different proofs"})
			}
		}
	}
}

// findContradiction reports whose share it is that a helper shows, and whether that
// participant has signed a proof that it contradicts.
func (c *Collection) findContradiction(p *secsum.Protocol, h int, f Share) (participant int, proven bool) {
	var m secsum.Message
	if m.UnmarshalBinary(f.Message) != nil || m.From < 0 || m.From >= len(c.Sum.Roster) || !f.By(c.Sum.Roster[m.From]) {
		return -1, false
	}
	holder, err := p.NewHolder(h)
	if err == nil {
		_, err = holder.Handle(m)
	}
	return m.From, errors.Is(err, secsum.ErrInconsistent)
}
