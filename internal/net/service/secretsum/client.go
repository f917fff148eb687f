// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

const (
	callTimeout = 30 * time.Second
	firstPause  = 100 * time.Millisecond
	lastPause   = 5 * time.Second
)

// Client calls one helper. Calls are repeated until their context ends, as long as there is no answer
// or the helper replies that they may succeed later. It is safe for concurrent use.
type Client struct {
	name  string
	log   *slog.Logger
	http  *http.Client
	calls rpc.HelperClient
}

// Dial makes a client of the named helper at an address, https://host:port. It sends nothing. A
// process with another identity at the address is refused, even if it is a helper.
func Dial(self *identity.Identity, name, address string, log *slog.Logger) *Client {
	c := self.HTTPClientOf(identity.Caller{Role: identity.Helper, Name: name})
	return &Client{name, log, c, rpc.NewHelperClient(c, address, admission.Replies(2*MaxBytes))}
}

// Name returns the helper's name.
func (c *Client) Name() string { return c.name }

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// mayMend reports whether a collector's call may succeed later. Once a sum has begun, people have paid
// for it. The collector therefore also waits until an operator has fixed invalid certificates.
func mayMend(err error) bool {
	return problem.Passing(err) || errors.As(err, new(*identity.MisfitError))
}

// callAgain repeats a call until it is answered; calls of helpers may be repeated.
func (c *Client) callAgain(ctx context.Context, passing func(error) bool, once func(context.Context) error) error {
	again := problem.Retry{First: firstPause, Last: lastPause, Each: callTimeout,
		Say: func(after time.Duration, err error) {
			c.log.Info("trying again", "helper", c.name, "after", after, "error", err)
		}}
	if err := again.Do(ctx, passing, once); err != nil {
		return fmt.Errorf("sum: helper %s: %w", c.name, problem.Named(err))
	}
	return nil
}

// Self fetches the name of the helper's store.
func (c *Client) Self(ctx context.Context) (m Memory, err error) {
	err = c.callAgain(ctx, problem.Passing, func(ctx context.Context) error {
		a, err := c.calls.GetSelf(ctx, connect.NewRequest(new(rpc.GetSelfRequest)))
		if err == nil && len(a.Msg.GetMemory()) != len(m) {
			err = problem.New(problem.Malformed, "a memory's name has %d bytes", len(a.Msg.GetMemory()))
		}
		if err == nil {
			m = Memory(a.Msg.GetMemory())
		}
		return err
	})
	return m, err
}

// Begin sends a signed sum to the helper, with the admission that an aggregator's sum requires.
func (c *Client) Begin(ctx context.Context, s Signed, why *Admission) error {
	request := &rpc.BeginRequest{Sum: s.Proto()}
	if why != nil {
		request.Task = &rpc.SignedTask{Announcement: why.Announcement, Certificate: why.Signature.Certificate,
			Signature: why.Signature.Value}
		request.List = why.List
	}
	return c.callAgain(ctx, mayMend, func(ctx context.Context) error {
		_, err := c.calls.Begin(ctx, connect.NewRequest(request))
		return err
	})
}

// Takes waits until the helper accepts shares of a sum: the collector has begun it there and the
// helper has agreed.
func (c *Client) Takes(ctx context.Context, id ID) error {
	_, err := c.Share(ctx, id, nil)
	return err
}

// Share sends shares once and returns the problem of each refused one. All others are on the helper's
// disk.
func (c *Client) Share(ctx context.Context, id ID, some []Share) (map[int]*problem.Problem, error) {
	request := &rpc.ShareRequest{SumId: id[:]}
	for _, s := range some {
		request.Shares = append(request.Shares, &rpc.SignedShare{Message: s.Message, Signature: s.Signature})
	}
	refused := map[int]*problem.Problem{}
	err := c.callAgain(ctx, problem.Passing, func(ctx context.Context) error {
		a, err := c.calls.Share(ctx, connect.NewRequest(request))
		if err != nil {
			return err
		}
		for _, f := range a.Msg.GetRefusals() {
			if i := int(f.GetIndex()); i < len(some) {
				refused[i] = problem.FromProto(f.GetProblem())
			}
		}
		return nil
	})
	return refused, err
}

// Progress asks, as the collector, how many shares the helper has, and whether it accepts more.
func (c *Client) Progress(ctx context.Context, id ID) (stored int, closed bool, err error) {
	err = c.callAgain(ctx, mayMend, func(ctx context.Context) error {
		a, err := c.calls.GetProgress(ctx, connect.NewRequest(&rpc.GetProgressRequest{SumId: id[:]}))
		if err == nil {
			stored, closed = int(a.Msg.GetShares()), a.Msg.GetClosed()
		}
		return err
	})
	return stored, closed, err
}

// Held is what a helper has when its wait for shares ends.
type Held struct {
	Message secsum.Message
	Faults  []Share // shares that contradict their own proofs
}

// Held ends, as the collector, the helper's wait for shares, and returns their participants.
func (c *Client) Held(ctx context.Context, id ID) (h Held, err error) {
	err = c.callAgain(ctx, mayMend, func(ctx context.Context) error {
		a, err := c.calls.Held(ctx, connect.NewRequest(&rpc.HeldRequest{SumId: id[:]}))
		if err != nil {
			return err
		}
		h = Held{}
		for _, f := range a.Msg.GetFaults() {
			h.Faults = append(h.Faults, Share{f.GetMessage(), f.GetSignature()})
		}
		return h.Message.UnmarshalBinary(a.Msg.GetMessage())
	})
	return h, err
}

// maxShow is the largest number of proofs per request.
const maxShow = 10_000

// Proofs fetches, as the collector of a sum with this tag, the signed proofs of participants whose
// shares the helper has. It returns the received proofs by participant, without verifying them. each
// is the timeout per answer.
func (c *Client) Proofs(ctx context.Context, id ID, tag secsum.Tag, of []int,
	each time.Duration) (map[int]Proof, error) {
	shown := map[int]Proof{}
	for len(of) > 0 {
		request := &rpc.HeldRequest{SumId: id[:]}
		for _, p := range of[:min(len(of), maxShow)] {
			request.Show = append(request.Show, uint32(p))
		}
		page, cancel := context.WithTimeout(ctx, each)
		var answer []*rpc.SignedProof
		err := c.callAgain(page, mayMend, func(ctx context.Context) error {
			a, err := c.calls.Held(ctx, connect.NewRequest(request))
			if err == nil {
				answer = a.Msg.GetProofs()
			}
			return err
		})
		cancel()
		if err != nil || len(answer) == 0 {
			return shown, err
		}
		for _, p := range answer {
			shown[int(p.GetParticipant())] = Proof{tag, int(p.GetParticipant()), p.GetProof(), p.GetSignature()}
		}
		of = of[min(len(answer), len(of)):]
	}
	return shown, nil
}

// Open sends the collector's only request and returns the answer.
func (c *Client) Open(ctx context.Context, id ID, request secsum.Message) (m secsum.Message, err error) {
	body, err := request.MarshalBinary()
	if err != nil {
		return m, err
	}
	err = c.callAgain(ctx, mayMend, func(ctx context.Context) error {
		a, err := c.calls.Open(ctx, connect.NewRequest(&rpc.OpenRequest{SumId: id[:], Message: body}))
		if err != nil {
			return err
		}
		return m.UnmarshalBinary(a.Msg.GetMessage())
	})
	return m, err
}
