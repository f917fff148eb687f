// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Collector receives from each holder the set of its owners, chooses the owners whose sum to open, and
// computes the sum. It is not safe for concurrent use.
type Collector struct {
	p      *Protocol
	held   map[int]map[int][]byte // evidence about owners, by holder
	roster []byte                 // the request's body, once chosen
	owners []int                  // owners in the sum
	from   []int                  // the holders asked for sums
	shower int                    // index in from of the holder asked for the owners' proofs
	bound  []byte                 // the part of the sums that these proofs determine
	sums   map[int][]byte
	liars  []int
	total  []uint64
	err    error // the reason why there is no sum
	done   bool
}

// ErrWrongSum reports that a holder's answer is not the sum of its shares, which the proofs of their
// owners determine. No honest holder gives such an answer, and no other party can cause this error for
// an honest holder.
var ErrWrongSum = errors.New("the answer is not the sum of the holder's shares")

// NewCollector returns a new collector.
func (p *Protocol) NewCollector() *Collector {
	return &Collector{p: p, held: map[int]map[int][]byte{}, sums: map[int][]byte{}}
}

// Handle processes a message and returns the messages that follow from it. An error wraps ErrRefused
// and leaves the collector unchanged, or is the error of Sum. If it wraps ErrWrongSum, the sender
// becomes one of the Liars and is excluded.
func (c *Collector) Handle(m Message) ([]Message, error) {
	if err := c.p.checkMessage(m, ToCollector); err != nil {
		return nil, err
	}
	switch m.Kind {
	case Held:
		return c.keepEvidence(m)
	case Shown:
		return c.keepProofs(m)
	case Sum:
		return nil, c.addSum(m)
	}
	return nil, refuseMessage("the collector expects neither shares nor requests")
}

func (c *Collector) keepEvidence(m Message) ([]Message, error) {
	if _, twice := c.held[m.From]; twice || c.roster != nil || c.done {
		return nil, refuseMessage("what holder %d has came too late, or twice", m.From)
	}
	evidence, err := c.p.readHeld(m.Body)
	if err != nil {
		return nil, err
	}
	if c.held[m.From] = evidence; len(c.held) == c.p.task.Holders {
		return c.chooseOwners()
	}
	return nil, nil
}

func (c *Collector) addSum(m Message) error {
	hash := sha256.Sum256(c.roster)
	if _, twice := c.sums[m.From]; c.bound == nil || c.done || twice || !slices.Contains(c.from, m.From) ||
		slices.Contains(c.liars, m.From) {
		return refuseMessage("no sum is awaited from holder %d", m.From)
	}
	if sum, ok := bytes.CutPrefix(m.Body, hash[:]); ok {
		if right, err := c.p.isBound(c.bound, m.From, sum); right && err == nil {
			c.sums[m.From] = bytes.Clone(sum)
			if len(c.sums)+len(c.liars) == len(c.from) {
				return c.openSum()
			}
			return nil
		}
	}
	c.liars = append(c.liars, m.From)
	err := fmt.Errorf("secsum: %w: holder %d: %w", ErrRefused, m.From, ErrWrongSum)
	if len(c.sums)+len(c.liars) == len(c.from) {
		return errors.Join(c.openSum(), err)
	}
	return err
}

// Liars returns the holders whose answers were not sums of their shares (ErrWrongSum).
func (c *Collector) Liars() []int { return c.liars }

// keepProofs adds up the owners' commitments in a holder's message. If they do not match what holders
// reported (Held), the next holder is asked.
func (c *Collector) keepProofs(m Message) ([]Message, error) {
	if c.roster == nil || c.bound != nil || c.done || c.from[c.shower] != m.From {
		return nil, refuseMessage("no proofs are awaited from holder %d", m.From)
	}
	size := c.p.proof()
	if len(m.Body) != size*len(c.owners) {
		return c.showNext()
	}
	proofs := slices.Collect(slices.Chunk(m.Body, size))
	for i, o := range c.owners {
		if digest := sha256.Sum256(proofs[i]); !bytes.Equal(digest[:], c.held[m.From][o]) {
			return c.showNext()
		}
	}
	bound, err := c.p.bindSums(proofs)
	if err != nil {
		return c.showNext()
	}
	return c.Bind(bound)
}

// showNext asks the next holder for the proofs.
func (c *Collector) showNext() ([]Message, error) {
	if c.shower++; c.shower == len(c.from) {
		return nil, c.abortAt(Shown, 0, 1)
	}
	return c.askProofs(), nil
}

func (c *Collector) askProofs() []Message {
	return []Message{{c.p.tag, Show, ToCollector, c.from[c.shower], bytes.Clone(c.roster)}}
}

// Owners returns the owners in the sum to open, nil before they are chosen.
func (c *Collector) Owners() []int { return c.owners }

// Bound returns the part of holders' sums that the owners' proofs determine: nil until it is known.
func (c *Collector) Bound() []byte { return c.bound }

// Bind continues with the Bound that another collector computed from the same messages.
func (c *Collector) Bind(bound []byte) (out []Message, err error) {
	if c.roster == nil || c.bound != nil || c.done {
		return nil, refuseMessage("no owners are chosen, or their proofs are known")
	}
	c.bound = bytes.Clone(bound)
	for _, i := range c.from {
		out = append(out, Message{c.p.tag, Open, ToCollector, i, bytes.Clone(c.roster)})
	}
	return out, nil
}

// Close ends the current wait, for holders' sets, proofs or sums, with the messages that have arrived.
// It returns the messages that follow, and the error of Sum.
func (c *Collector) Close() ([]Message, error) {
	switch {
	case c.done:
		return nil, c.err
	case c.roster == nil:
		return c.chooseOwners()
	case c.bound == nil:
		return c.showNext()
	}
	return nil, c.openSum()
}

// chooseOwners chooses holders and owners: all holders that answered, and the owners that all of them
// have. If these are too few owners, it drops the holders with the fewest owners, as long as a quorum
// remains.
func (c *Collector) chooseOwners() ([]Message, error) {
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
	c.roster = roster
	slices.Sort(c.from)
	return c.askProofs(), nil
}

// agreedEvidence returns each holder's evidence about its owners, except if more holders have other
// evidence about the same owner. Either the owner gave different shares or a holder lies, which cannot
// be distinguished; a holder that lies about all owners must not outweigh the others.
func (c *Collector) agreedEvidence() map[int]map[int][]byte {
	has := map[int]map[int][]byte{}
	for i := range c.held {
		has[i] = map[int][]byte{}
	}
	for o := range c.p.task.Owners {
		votes, most := map[string]int{}, ""
		for _, i := range slices.Sorted(maps.Keys(c.held)) {
			if e := c.held[i][o]; e != nil {
				if votes[string(e)]++; votes[string(e)] > votes[most] {
					most = string(e)
				}
			}
		}
		for i, h := range c.held {
			if e := h[o]; e != nil && string(e) == most {
				has[i][o] = e
			}
		}
	}
	return has
}

// Disputed lists the owners about whom holders disagree. Their shares are consistent among the holders
// with equal evidence, and count for these.
func (c *Collector) Disputed() (owners []int) {
	has := c.agreedEvidence()
	for o := range c.p.task.Owners {
		for i, h := range c.held {
			if h[o] != nil && has[i][o] == nil {
				owners = append(owners, o)
				break
			}
		}
	}
	return owners
}

// Evidence returns a holder's evidence about an owner's share, nil if it has none.
func (c *Collector) Evidence(holder, owner int) []byte { return c.held[holder][owner] }

// commonOwners lists the owners for whom all chosen holders have valid shares.
func (c *Collector) commonOwners(has map[int]map[int][]byte) (owners []int) {
	for o := range c.p.task.Owners {
		if !slices.ContainsFunc(c.from, func(holder int) bool { return has[holder][o] == nil }) {
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
// ok is false; an error is final, and an *Abort if too few took part.
func (c *Collector) Sum() (total []uint64, owners []int, ok bool, err error) {
	if !c.done || c.err != nil {
		return nil, nil, false, c.err
	}
	return c.total, c.owners, true, nil
}
