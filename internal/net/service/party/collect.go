// SPDX-License-Identifier: Apache-2.0

package party

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// afterwards is how long helpers keep a sum after the query's deadline, for a combiner that opens it
// late.
const afterwards = time.Hour

// Total is an opened secret sum.
type Total struct {
	Sum     []uint64
	Parties int      // the parties in the sum
	Answers []Answer // a party without an error may still be missing
}

// Total makes a secret sum with the parties. It announces the sum to the helpers, whose addresses are
// given by name, asks all parties at once, and opens the sum when each party has answered or will not
// answer, or at the query's deadline. length and below describe the vector of the query. pay is called
// once, when enough helpers are available and no party has been asked for anything.
func (a Asking) Total(ctx context.Context, addresses map[string]string, length int, below uint64,
	pay func() error) (*Total, error) {
	signed, err := a.signQuery()
	if err != nil {
		return nil, err
	}
	c := &secretsum.Collection{Sum: &secretsum.Sum{
		Round: a.Query.Job, Topic: sha256.Sum256(signed.GetQuery()), Length: length, Range: below,
		AtLeast: max(2, a.Query.Honest, a.AtLeast), Proofs: a.Proofs, Ends: a.Query.Deadline.Add(afterwards),
	}, Patience: cmp.Or(a.patience, patience)}
	c.Found = func(f secretsum.Fault) {
		key := ""
		if f.Participant >= 0 {
			key = fmt.Sprintf("%x", c.Sum.Roster[f.Participant])
		}
		a.Log.Warn("a participant deviated from the protocol of a secret sum, and is left out", "round", c.Sum.Round, "key", key,
			"who", f.String())
	}
	for _, name := range slices.Sorted(maps.Keys(addresses)) {
		client := secretsum.Dial(a.Self, name, addresses[name], a.Log)
		defer client.Close()
		c.Clients = append(c.Clients, client)
	}
	for _, p := range a.Peers {
		c.Sum.Roster = append(c.Sum.Roster, secretsum.Key(p.Key))
	}
	meeting, cancel := a.untilDeadline(ctx)
	c.Sum.Helpers, err = secretsum.MeetQuorum(meeting, c.Clients, c.Patience, a.Log)
	cancel()
	if err != nil {
		return nil, fmt.Errorf("party: no party was asked: %w", err)
	}
	if c.Signed, err = c.Sum.Sign(a.Self); err != nil {
		return nil, err
	}
	if _, err := c.Sum.Protocol(); err != nil {
		return nil, err
	}
	if err := pay(); err != nil {
		return nil, err
	}
	out := new(Total)
	c.Wait = func(ctx context.Context, _ func(context.Context) []int) error {
		waiting, cancel := a.untilDeadline(ctx)
		defer cancel()
		out.Answers = a.askEach(waiting, signed, func(ctx context.Context,
			one *asked) error {
			return one.askAddend(ctx, c.Signed)
		})
		return ctx.Err()
	}
	var parties []int
	if out.Sum, parties, err = c.Run(ctx); err != nil {
		return out, err
	}
	out.Parties = len(parties)
	return out, nil
}

// askAddend asks the party to add its vector until its shares are with the helpers, it refuses for
// good, or the time is over.
func (a *asked) askAddend(ctx context.Context, announced secretsum.Signed) error {
	once := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		_, err := a.client.Add(ctx, connect.NewRequest(&rpc.AddRequest{Query: a.query, Sum: announced.Proto()}))
		return err
	}
	return a.callAgain(ctx, func(ctx context.Context) error {
		err := once(ctx)
		if problem.Of(err).Kind == problem.UnknownTable {
			if err = a.sendFiles(ctx); err == nil {
				err = once(ctx)
			}
		}
		return err
	})
}
