// SPDX-License-Identifier: Apache-2.0

package helpertest

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// Play simulates the helpers and the collector of a sum in this process, with shares as their
// participants stored them. It returns the sum and its participants.
func Play(secret *secretsum.Sum, shares [][]byte) (total []uint64, of []int, err error) {
	p, err := secret.Protocol()
	if err != nil {
		return nil, nil, err
	}
	collector, holders := p.NewCollector(), make([]*secsum.Holder, len(secret.Helpers))
	for h := range holders {
		if holders[h], err = p.NewHolder(h); err != nil {
			return nil, nil, err
		}
	}
	var post []secsum.Message
	for _, b := range shares {
		var m secsum.Message
		if err := m.UnmarshalBinary(b); err != nil {
			return nil, nil, err
		}
		post = append(post, m)
	}
	deliver := func() error {
		for len(post) > 0 {
			m := post[0]
			handle := collector.Handle
			if m.To != secsum.ToCollector {
				handle = holders[m.To].Handle
			}
			next, err := handle(m)
			if err != nil {
				return err
			}
			post = append(post[1:], next...)
		}
		return nil
	}
	if err := deliver(); err != nil {
		return nil, nil, err
	}
	for _, h := range holders {
		post = append(post, h.Close()...)
	}
	if err := deliver(); err != nil {
		return nil, nil, err
	}
	total, of, ok, err := collector.Sum()
	if err == nil && !ok {
		err = errors.New("helpertest: there is no sum")
	}
	return total, of, err
}
