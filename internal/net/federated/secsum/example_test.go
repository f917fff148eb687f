// SPDX-License-Identifier: Apache-2.0

package secsum_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Five owners, four holders of whom one never answers, and a sum.
func Example() {
	p, err := secsum.Shamir(secsum.Task{Round: "lunch, 3 May", Owners: 5, AtLeast: 3, Holders: 4, Length: 2, Range: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	holders := make([]*secsum.Holder, 4)
	for i := range holders {
		if holders[i], err = p.NewHolder(i); err != nil {
			fmt.Println(err)
			return
		}
	}
	collector := p.NewCollector()
	// deliver carries messages to where they are addressed, and on.
	var deliver func(messages []secsum.Message)
	deliver = func(messages []secsum.Message) {
		for _, m := range messages {
			handle := collector.Handle
			if m.To == 3 {
				continue // this holder is away
			} else if m.To != secsum.ToCollector {
				handle = holders[m.To].Handle
			}
			next, err := handle(m)
			if err != nil {
				fmt.Println(err)
			}
			deliver(next)
		}
	}
	for owner, vector := range [][]uint64{{1, 10}, {2, 20}, {3, 30}, {4, 40}, {5, 50}} {
		shares, err := p.Split(rng.System(), owner, vector)
		if err != nil {
			fmt.Println(err)
			return
		}
		deliver(shares)
	}
	for _, h := range holders[:3] { // the wait for owners is over
		deliver(h.Close())
	}
	requests, err := collector.Close() // so is the wait for holders
	if err != nil {
		fmt.Println(err)
		return
	}
	deliver(requests)
	sum, owners, ok, err := collector.Sum()
	fmt.Println(sum, owners, ok, err)
	// Output: [15 150] [0 1 2 3 4] true <nil>
}
