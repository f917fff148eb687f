// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
)

// Collector learns which owners each holder has, chooses whose sum to open, and
// puts the sum together. It is not safe for concurrent use.
type Collector struct {
	p      *Protocol
	held   map[int]held
	asked  []byte // the request's body, once it was made
	owners []int  // whose sum
	from   []int  // the holders that were asked
	sums   map[int][]byte
	total  []uint64
	err    error // why there is no sum
	done   bool
}

// NewCollector starts the collector.
func (p *Protocol) NewCollector() *Collector {
	return &Collector{p: p, held: map[int]held{}, sums: map[int][]byte{}}
}

// Handle takes a message and returns the messages that follow from it. An error
// wraps ErrRefused and leaves the collector as it was, or is the error of Sum.
func (c *Collector) Handle(m Message) ([]Message, error) {
	if err := c.p.checkMessage(m, ToCollector); err != nil {
		return nil, err
	}
	switch m.Kind {
	case Held:
		return c.keepEvidence(m)
	case Sum:
		return nil, c.addSum(m)
	}
	return nil, refuseMessage("the collector expects neither shares nor requests")
}

func (c *Collector) keepEvidence(m Message) ([]Message, error) {
	if _, twice := c.held[m.From]; twice || c.asked != nil || c.done {
		return nil, refuseMessage("what holder %d has came too late, or twice", m.From)
	}
	h, err := c.p.readHeld(m.Body)
	if err != nil {
		return nil, err
	}
	if c.held[m.From] = h; len(c.held) == c.p.task.Holders {
		return c.requestSums()
	}
	return nil, nil
}

func (c *Collector) addSum(m Message) error {
	hash := sha256.Sum256(c.asked)
	switch _, twice := c.sums[m.From]; {
	case c.asked == nil || c.done || twice || !slices.Contains(c.from, m.From):
		return refuseMessage("no sum is awaited from holder %d", m.From)
	case len(m.Body) < len(hash) || !bytes.Equal(m.Body[:len(hash)], hash[:]):
		return refuseMessage("holder %d answers another request", m.From)
	}
	if err := c.p.parses(m.Body[len(hash):]); err != nil {
		return err
	}
	c.sums[m.From] = bytes.Clone(m.Body[len(hash):])
	if len(c.sums) == len(c.from) {
		return c.openSum()
	}
	return nil
}

// Close ends the present wait, for what holders have or for their sums, with
// those that came. It returns the messages that follow, and the error of Sum.
func (c *Collector) Close() ([]Message, error) {
	switch {
	case c.done:
		return nil, c.err
	case c.asked == nil:
		return c.requestSums()
	}
	return nil, c.openSum()
}

// requestSums chooses holders and owners: all holders that answered, and the owners
// that each of them has. Where that leaves too few owners, the holders with
// the fewest are left out while a quorum remains.
func (c *Collector) requestSums() ([]Message, error) {
	has := c.agreedEvidence()
	for i := range c.held {
		c.from = append(c.from, i)
	}
	slices.SortFunc(c.from, func(a, b int) int { return cmp.Or(len(has[b])-len(has[a]), a-b) })
	if len(c.from) < c.p.quorum() {
		return nil, c.abortAt(Held, len(c.from), c.p.quorum())
	}
	for c.owners = c.commonOwners(has); len(c.owners) < c.p.task.AtLeast &&
		len(c.from) > c.p.quorum(); c.owners = c.commonOwners(has) {
		c.from = c.from[:len(c.from)-1]
	}
	if len(c.owners) < c.p.task.AtLeast {
		return nil, c.abortAt(Share, len(c.owners), c.p.task.AtLeast)
	}
	roster := newSet(c.p.task.Owners)
	for _, o := range c.owners {
		roster.addMember(o)
	}
	c.asked = roster
	slices.Sort(c.from)
	var out []Message
	for _, i := range c.from {
		out = append(out, Message{c.p.tag, Open, ToCollector, i, bytes.Clone(roster)})
	}
	return out, nil
}

// agreedEvidence is each holder's evidence about the owners it has, but for those about whom
// more holders say something else: it cannot be told whether an owner has told two
// tales or a holder lies, and a holder that lies about all must not outweigh them.
func (c *Collector) agreedEvidence() map[int]map[int][]byte {
	has := map[int]map[int][]byte{}
	for i := range c.held {
		has[i] = map[int][]byte{}
	}
	for o := range c.p.task.Owners {
		votes, most := map[string]int{}, ""
		for _, i := range slices.Sorted(maps.Keys(c.held)) {
			if e := c.held[i].evidence[o]; e != nil {
				tale := string(c.p.alike(e))
				if votes[tale]++; votes[tale] > votes[most] {
					most = tale
				}
			}
		}
		for i, h := range c.held {
			if e := h.evidence[o]; e != nil && string(c.p.alike(e)) == most {
				has[i][o] = e
			}
		}
	}
	return has
}

// Disputed lists the owners about whom holders' words differ. Their shares are
// consistent among the holders who were told alike, and count there.
func (c *Collector) Disputed() (owners []int) {
	has := c.agreedEvidence()
	for o := range c.p.task.Owners {
		for i, h := range c.held {
			if h.evidence[o] != nil && has[i][o] == nil {
				owners = append(owners, o)
				break
			}
		}
	}
	return owners
}

// Evidence is what a holder has shown of an owner's share, nil where it has none.
func (c *Collector) Evidence(holder, owner int) []byte { return c.held[holder].evidence[owner] }

// commonOwners lists the owners that all chosen holders have, with valid shares.
func (c *Collector) commonOwners(has map[int]map[int][]byte) (owners []int) {
	for o := range c.p.task.Owners {
		var evidence [][]byte
		for _, i := range slices.Sorted(slices.Values(c.from)) {
			if e := has[i][o]; e != nil {
				evidence = append(evidence, e)
			}
		}
		if len(evidence) < len(c.from) {
			continue
		}
		if c.p.judge(evidence) {
			owners = append(owners, o)
		}
	}
	return owners
}

func (c *Collector) openSum() error {
	if len(c.sums) < c.p.quorum() {
		return c.abortAt(Sum, len(c.sums), c.p.quorum())
	}
	c.done = true
	c.total, c.err = c.p.open(c.sums, len(c.owners))
	return c.err
}

func (c *Collector) abortAt(waiting Kind, have, need int) error {
	c.done, c.err = true, &Abort{waiting, have, need}
	return c.err
}

// Sum returns the sum of the vectors of the listed owners. Until there is one,
// ok is false; an error is final, and an *Abort where too few took part.
func (c *Collector) Sum() (total []uint64, owners []int, ok bool, err error) {
	if !c.done || c.err != nil {
		return nil, nil, false, c.err
	}
	return c.total, c.owners, true, nil
}
