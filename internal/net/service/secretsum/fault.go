// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
)

// Fault describes a participant or helper that has deviated from the protocol. It is excluded from the
// sum, which continues without it. The evidence is a participant's signature, or a helper's failure to
// show what it claimed.
type Fault struct {
	Participant int    // its number in the roster; -1 if a helper is at fault
	Helper      string // the helper that reported it, or that is at fault
	What        string
}

func (f Fault) String() string {
	if f.Participant < 0 {
		return fmt.Sprintf("helper %s %s", f.Helper, f.What)
	}
	return fmt.Sprintf("participant %d %s", f.Participant, f.What)
}

// accuseDeviants calls Found for everyone who has deviated, according to the helpers' reports. Helpers
// are asked once more about participants on whom they disagree; helpers that do not answer in time are
// not accused of lying.
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
			switch of, how := c.findContradiction(p, h, f); {
			case errors.Is(how, secsum.ErrOutOfRange):
				c.Found(Fault{of, c.Clients[h].name, "gave helper " + c.Clients[h].name +
					" a share whose numbers are not shown to be in range"})
			case errors.Is(how, secsum.ErrInconsistent):
				c.Found(Fault{of, c.Clients[h].name, "gave helper " + c.Clients[h].name +
					" a share that contradicts its own proof"})
			default:
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
	shown, failed := make([]map[int]Proof, len(c.Clients)), make([]error, len(c.Clients))
	eachClient(c.Clients, func(h int, client *Client) {
		if said[h].Message.Kind != 0 {
			claimed := slices.DeleteFunc(slices.Clone(disputed), func(of int) bool { return collector.Evidence(h, of) == nil })
			shown[h], failed[h] = client.Proofs(ctx, id, said[h].Message.Task, claimed, c.Patience)
		}
	})
	for _, of := range disputed {
		var first []byte
		told := false
		for h, proofs := range shown {
			claimed := collector.Evidence(h, of)
			if claimed == nil || failed[h] != nil {
				continue
			}
			p, ok := proofs[of]
			digest := p.Digest()
			switch {
			case !ok || !bytes.Equal(digest[:], claimed) || !p.By(c.Sum.Roster[of]):
				c.Found(Fault{-1, c.Clients[h].name, unshown})
			case first == nil:
				first = claimed
			case !bytes.Equal(first, claimed) && !told:
				told = true
				c.Found(Fault{of, c.Clients[h].name, "gave helpers different proofs"})
			}
		}
	}
}

// The faults of helpers.
const (
	unshown = "claims a share whose proof it cannot show"
	lied    = "has answered with another sum than that of its shares"
)

// showProofs fetches the signed proofs of the collector's chosen owners, which are equal for all
// helpers. One helper that shows what it has claimed is sufficient; Found is called for each that does
// not.
func (c *Collection) showProofs(ctx context.Context, collector *secsum.Collector, id ID, ask []secsum.Message) error {
	var unanswered error
	for collector.Bound() == nil {
		m, h := ask[0], ask[0].To
		proofs, err := c.Clients[h].Proofs(ctx, id, m.Task, collector.Owners(), c.Patience)
		if err != nil {
			if unanswered = errors.Join(unanswered, err); ctx.Err() == nil {
				ask, err = collector.Close()
			}
		} else {
			var body []byte
			for _, of := range collector.Owners() {
				if p, ok := proofs[of]; ok && p.By(c.Sum.Roster[of]) {
					body = append(body, p.Bytes...)
				}
			}
			ask, err = collector.Handle(secsum.Message{Task: m.Task, Kind: secsum.Shown, From: h, To: secsum.ToCollector,
				Body: body})
			if collector.Bound() == nil {
				c.found(Fault{-1, c.Clients[h].name, unshown})
			}
		}
		switch {
		case err != nil && unanswered != nil: // who has not answered may do so later
			return fmt.Errorf("sum: no helper has shown the proofs of its participants: %w", unanswered)
		case err != nil:
			return err
		}
	}
	return nil
}

func (c *Collection) found(f Fault) {
	if c.Found != nil {
		c.Found(f)
	}
}

// findContradiction returns whose share a helper shows, and how it contradicts what that participant
// has signed: secsum.ErrInconsistent, or nil if it convicts no one.
func (c *Collection) findContradiction(p *secsum.Protocol, h int, f Share) (participant int, how error) {
	var m secsum.Message
	if m.UnmarshalBinary(f.Message) != nil || m.From < 0 || m.From >= len(c.Sum.Roster) || !f.By(c.Sum.Roster[m.From]) {
		return -1, nil
	}
	holder, err := p.NewHolder(h)
	if err == nil {
		_, err = holder.Handle(m)
	}
	return m.From, err
}
