// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Protocol is a task and a way to split vectors.
type Protocol struct{ *shamir }

// Task returns the task.
func (p *Protocol) Task() Task { return p.task }

// Bare returns an accepted share in the form that Restore requires: without the proof of its ranges.
func (p *Protocol) Bare(m Message) Message {
	m.Body = p.bare(m.Body)
	return m
}

// Quorum returns the number of holders required to open the sum.
func (p *Protocol) Quorum() int { return p.quorum() }

// Split is all that an owner does: it makes one message for each holder. The randomness may be used
// once only: a lost message must be sent again unchanged, never split again.
func (p *Protocol) Split(src rng.Source, owner int, values []uint64) ([]Message, error) {
	const op = "secsum"
	if owner < 0 || owner >= p.task.Owners {
		return nil, dp.Refuse(op, "owner", "must be one of the task's", owner)
	}
	if err := p.task.checkVector(op, values); err != nil {
		return nil, err
	}
	shares, err := p.split(src, owner, values)
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(shares))
	for i, s := range shares {
		out[i] = Message{p.tag, Share, owner, i, s}
	}
	return out, nil
}

// checkMessage refuses messages of another task, with another recipient, or without a valid sender.
func (p *Protocol) checkMessage(m Message, to int) error {
	from := p.task.Holders
	switch m.Kind {
	case Share:
		from = p.task.Owners
	case Open, Show:
		from = 1 // the collector is ToCollector
	}
	switch {
	case m.Task != p.tag:
		return refuseMessage("it belongs to another task")
	case m.To != to:
		return refuseMessage("it is addressed to %d, not to %d", m.To, to)
	case (m.Kind == Open || m.Kind == Show) && m.From != ToCollector:
		return refuseMessage("only the collector asks for a sum")
	case m.Kind != Open && m.Kind != Show && (m.From < 0 || m.From >= from):
		return refuseMessage("it is from %d, of %d", m.From, from)
	}
	return nil
}

// reader turns a source of random bits into an io.Reader, with eight bytes per word.
type reader struct{ src rng.Source }

func (r reader) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		w := r.src.Uint64()
		for j := i; j < min(i+8, len(p)); j++ {
			p[j] = byte(w)
			w >>= 8
		}
	}
	return len(p), nil
}
