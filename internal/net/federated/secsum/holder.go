// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Holder stores shares, and adds up those of the owners that the collector names, once. A holder that
// has lost its memory must not begin again on the same task, because it does not know whether it has
// answered. It is not safe for concurrent use.
type Holder struct {
	p      *Protocol
	index  int
	shares map[int]accepted // by owner
	closed bool
	answer []Message // to the only request that is ever answered
	asked  []byte    // body of that request
}

// accepted is an owner's share.
type accepted struct {
	hash   [sha256.Size]byte
	points []group.Scalar // the blinding one first
	proof  []byte
}

// NewHolder returns the holder number index.
func (p *Protocol) NewHolder(index int) (*Holder, error) {
	if index < 0 || index >= p.task.Holders {
		return nil, dp.Refuse("secsum", "holder", "must be one of the task's", index)
	}
	return &Holder{p: p, index: index, shares: map[int]accepted{}}, nil
}

// Handle processes a message and returns the messages that follow from it. An error wraps ErrRefused
// and leaves the holder unchanged, or is an *Abort if the request names fewer owners than the task
// allows. The error for a share that convicts its owner also wraps ErrInconsistent.
func (h *Holder) Handle(m Message) ([]Message, error) {
	if err := h.p.checkMessage(m, h.index); err != nil {
		return nil, err
	}
	switch m.Kind {
	case Share:
		return nil, h.keepShare(m, h.p.verify)
	case Show:
		return h.showProofs(m)
	case Open:
		return h.request(m)
	}
	return nil, refuseMessage("a holder expects shares and requests")
}

// Restore restores a share that this holder accepted before and has stored. It does not verify the
// share again.
func (h *Holder) Restore(m Message) error {
	if err := h.p.checkMessage(m, h.index); err != nil {
		return err
	}
	if m.Kind != Share {
		return refuseMessage("a holder keeps shares")
	}
	return h.keepShare(m, h.p.parsePoints)
}

func (h *Holder) keepShare(m Message, parse func(owner, holder int, share []byte) ([]group.Scalar, []byte, error)) error {
	hash := sha256.Sum256(h.p.bare(m.Body))
	if before, ok := h.shares[m.From]; ok {
		if before.hash != hash {
			return refuseMessage("owner %d has sent another share already", m.From)
		}
		return nil
	}
	if h.closed {
		return refuseMessage("the wait for shares is over")
	}
	points, proof, err := parse(m.From, h.index, m.Body)
	if err != nil {
		return err
	}
	h.shares[m.From] = accepted{hash, points, bytes.Clone(proof)}
	return nil
}

// Close ends the wait for owners, and returns the message that reports the holder's owners to the
// collector. Later calls return the same.
func (h *Holder) Close() []Message {
	h.closed = true
	owners := newSet(h.p.task.Owners)
	for o := range h.shares {
		owners.addMember(o)
	}
	body := bytes.Clone(owners)
	for _, o := range owners.listMembers() {
		digest := sha256.Sum256(h.shares[o].proof)
		body = append(body, digest[:]...)
	}
	return []Message{{h.p.tag, Held, h.index, ToCollector, body}}
}

// request answers the collector's only request. With answers to two, the collector could subtract one
// sum from the other.
func (h *Holder) request(m Message) ([]Message, error) {
	if h.answer != nil {
		if !bytes.Equal(h.asked, m.Body) {
			return nil, refuseMessage("another sum was opened already")
		}
		return h.answer, nil // asked again: the same words
	}
	list, err := h.readRequest(m.Body)
	if err != nil {
		return nil, err
	}
	if len(list) < h.p.task.AtLeast { // 1.3
		return nil, &Abort{Share, len(list), h.p.task.AtLeast}
	}
	sum, err := h.addShares(list)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(m.Body)
	h.asked = bytes.Clone(m.Body)
	h.answer = []Message{{h.p.tag, Sum, h.index, ToCollector, append(hash[:], sum...)}}
	return h.answer, nil
}

// addShares adds up the shares of owners it holds.
func (h *Holder) addShares(owners []int) (out []byte, err error) {
	for i := range 1 + h.p.countScalars() {
		sum := group.Ristretto255.NewScalar()
		for _, o := range owners {
			sum.Add(sum, h.shares[o].points[i])
		}
		b, err := sum.MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("secsum: shamir: %w", err)
		}
		out = append(out, b...)
	}
	return out, nil
}

// readRequest lists the owners that a request names, all of whom the holder has.
func (h *Holder) readRequest(body []byte) ([]int, error) {
	owners, rest, err := readSet(h.p.task.Owners, body)
	switch {
	case err != nil:
		return nil, err
	case len(rest) != 0:
		return nil, refuseMessage("a request has %d bytes too many", len(rest))
	case !h.closed:
		return nil, refuseMessage("the wait for shares is not over")
	}
	list := owners.listMembers()
	for _, o := range list {
		if _, ok := h.shares[o]; !ok {
			return nil, refuseMessage("holder %d has no share of owner %d", h.index, o)
		}
	}
	return list, nil
}

// showProofs returns what owners have sent to all holders alike. It may be requested any number of
// times, because it reveals nothing.
func (h *Holder) showProofs(m Message) ([]Message, error) {
	list, err := h.readRequest(m.Body)
	if err != nil {
		return nil, err
	}
	var body []byte
	for _, o := range list {
		body = append(body, h.shares[o].proof...)
	}
	return []Message{{h.p.tag, Shown, h.index, ToCollector, body}}, nil
}

// readHeld returns the evidence in the body of a Held message, by owner: the SHA-256 of the proof that
// came with a share shows whether all holders received the same one.
func (p *Protocol) readHeld(body []byte) (map[int][]byte, error) {
	owners, rest, err := readSet(p.task.Owners, body)
	if err != nil {
		return nil, err
	}
	list := owners.listMembers()
	const size = sha256.Size
	if len(rest) != size*len(list) {
		return nil, refuseMessage("evidence about %d owners has %d bytes, not %d", len(list), len(rest), size*len(list))
	}
	evidence := map[int][]byte{}
	for i, o := range list {
		evidence[o] = bytes.Clone(rest[i*size : (i+1)*size])
	}
	return evidence, nil
}
