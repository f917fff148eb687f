// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// Peer is the address of one party and the key that identifies it.
type Peer struct {
	URL  string         // https://host:port
	Name string         // as in its certificate, party/NAME, and in its votes files
	Key  multiparty.Key // public key for its votes' signatures
}

// Asking is one query to many parties.
type Asking struct {
	Self  *identity.Identity // certificate of a combiner
	Peers []Peer
	Query *Query
	// Files are the files of the query's tables, to send to parties that allow but lack them.
	Files []string
	// Fits refuses votes files that do not suit the combination.
	Fits func(*multiparty.Header) error
	// Dir receives the votes files, one for each party that answers, under its name.
	Dir string
	// AtLeast is the minimum number of parties in an opened secret sum, if larger than Query.Honest:
	// parties may assume that some of them add no noise.
	AtLeast int
	Proofs  bool // for a secret sum; see secretsum.Sum
	Log     *slog.Logger
	// Now is the clock for the query's deadline; nil: the system's.
	Now func() time.Time
	// Progress receives the number of parties that have answered or will not answer, if it is not nil.
	Progress func(done, total int)

	patience time.Duration // with helpers; 0: the constant
}

const (
	callTimeout = 2 * longest // for a call, including a small number of votes
	firstPause  = 100 * time.Millisecond
	lastPause   = 5 * time.Second
	// atOnce bounds the number of connections, because a combiner can only open so many files.
	atOnce = 256
)

// Answer is the result for one party.
type Answer struct {
	Peer Peer
	// Err is the reason why there are no votes of the party; nil if there are.
	Err error
}

// Votes asks all parties at once. It returns when each has answered or will not answer, or at the
// query's deadline. A party that gives no votes, or a file that does not contain its votes on this
// table, is absent. That does not affect the other parties' votes.
func (a Asking) Votes(ctx context.Context) ([]Answer, error) {
	signed, err := a.signQuery()
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.untilDeadline(ctx)
	defer cancel()
	return a.askEach(ctx, signed, func(ctx context.Context, one *asked) error { return one.askVotes(ctx) }), nil
}

// untilDeadline returns a context that ends at the query's deadline.
func (a *Asking) untilDeadline(ctx context.Context) (context.Context, func()) {
	now := a.Now
	if now == nil {
		now = time.Now
	}
	return problem.Until(ctx, now, a.Query.Deadline, context.DeadlineExceeded)
}

// signQuery signs the query.
func (a Asking) signQuery() (*rpc.SignedQuery, error) {
	if err := a.Self.CheckRole("combine", identity.Combiner); err != nil {
		return nil, err
	}
	s, err := a.Query.Sign(a.Self)
	return &rpc.SignedQuery{Query: s.Text, Certificate: s.Signature.Certificate, Signature: s.Signature.Value}, err
}

// askEach asks all parties at once.
func (a Asking) askEach(ctx context.Context, query *rpc.SignedQuery, ask func(context.Context, *asked) error) []Answer {
	out := make([]Answer, len(a.Peers))
	turns := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i, p := range a.Peers {
		wg.Go(func() {
			one := &asked{Asking: &a, peer: p, turns: turns, query: query}
			defer one.openClient()()
			out[i] = Answer{p, ask(ctx, one)}
			mu.Lock()
			defer mu.Unlock()
			if done++; a.Progress != nil {
				a.Progress(done, len(a.Peers))
			}
		})
	}
	wg.Wait()
	return out
}

// asked is the state of one party that is being asked.
type asked struct {
	*Asking
	peer   Peer
	turns  chan struct{} // one token per simultaneous call
	query  *rpc.SignedQuery
	client rpc.PartyClient
}

// openClient makes a client for this party only; close ends its connections.
func (a *asked) openClient() (close func()) {
	c := a.Self.HTTPClientOf(identity.Caller{Role: identity.Party, Name: a.peer.Name})
	a.client = rpc.NewPartyClient(c, a.peer.URL, admission.Replies(maxMessage))
	return c.CloseIdleConnections
}

// askVotes asks until the party has given its votes, refuses for good, or the time is over.
func (a *asked) askVotes(ctx context.Context) error {
	return a.callAgain(ctx, func(ctx context.Context) error {
		err := a.fetch(ctx)
		if problem.Of(err).Kind == problem.UnknownTable {
			if err = a.sendFiles(ctx); err == nil {
				err = a.fetch(ctx)
			}
		}
		return err
	})
}

// callAgain repeats a call until it is answered; the calls made here may be repeated.
func (a *asked) callAgain(ctx context.Context, once func(context.Context) error) error {
	again := problem.Retry{First: firstPause, Last: lastPause, Say: func(after time.Duration, err error) {
		a.Log.Debug("trying again", "party", a.peer.Name, "after", after, "error", err)
	}}
	err := again.Do(ctx, mayPass, func(ctx context.Context) error { return a.tryOnce(ctx, once) })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("did not answer in time: %w", err)
	}
	if err != nil {
		return problem.Named(err)
	}
	return nil
}

// mayPass reports whether a retry may have another result. It cannot if the party answered something
// other than its votes, or if the local disk fails.
func mayPass(err error) bool {
	if errors.As(err, new(*identity.MisfitError)) {
		return false
	}
	return errors.As(err, new(*connect.Error)) && (!connect.IsWireError(err) || problem.Passing(err))
}

func (a *asked) tryOnce(ctx context.Context, once func(context.Context) error) error {
	select {
	case a.turns <- struct{}{}:
		defer func() { <-a.turns }()
		return once(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errOther is wrapped by errors about a party that answered something other than its votes.
var errOther = errors.New("must answer with its votes about this table")

// fetch receives the party's votes file and checks it. The result of the check depends only on this
// party's bytes.
func (a *asked) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, transfer)
	defer cancel()
	// Until it speaks, a party has less time than for all it may have to say.
	silent := time.AfterFunc(callTimeout, cancel)
	defer silent.Stop()
	stream, err := a.client.Vote(ctx, connect.NewRequest(&rpc.VoteRequest{Query: a.query}))
	if err != nil {
		return err
	}
	defer stream.Close()
	from := &parts{stream: stream, heard: func() { silent.Reset(callTimeout) }}
	return keepFile(filepath.Join(a.Dir, a.peer.Name), time.Time{}, func(to io.Writer) error {
		r, err := multiparty.NewReader(io.TeeReader(from, to))
		if from.err != nil {
			return from.err
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errOther, err)
		}
		if err := a.checkHeader(&r.Header); err != nil { // 1.7
			return err
		}
		if err = r.Rest(); from.err != nil {
			return from.err
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errOther, err)
		}
		return nil
	})
}

// checkHeader refuses votes other than the requested ones.
func (a *asked) checkHeader(h *multiparty.Header) error {
	if h.Party != a.peer.Name || h.Key != a.peer.Key {
		return fmt.Errorf("%w, under its name and key", errOther)
	}
	if err := a.Fits(h); err != nil {
		return fmt.Errorf("%w: %w", errOther, err)
	}
	return nil
}

// parts reads a stream's messages as one file.
type parts struct {
	stream *connect.ServerStreamForClient[rpc.VoteResponse]
	heard  func()
	rest   []byte
	err    error // of the call, not of the file
}

func (p *parts) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if !p.stream.Receive() {
			if p.err = p.stream.Err(); p.err == nil {
				return 0, io.EOF
			}
			return 0, p.err
		}
		p.heard()
		p.rest = p.stream.Msg().GetPart()
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// sendFiles sends the auxiliary files to a party that lacks them.
func (a *asked) sendFiles(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, transfer)
	defer cancel()
	for i, path := range a.Files {
		if err := a.sendFile(ctx, i, path); err != nil {
			return err
		}
	}
	return nil
}

func (a *asked) sendFile(ctx context.Context, number int, path string) error {
	f, err := openfile.Regular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stream := a.client.SendTable(ctx)
	message := &rpc.SendTableRequest{Query: a.query, File: uint32(number)}
	for buf := make([]byte, partBytes); ; {
		n, err := f.Read(buf)
		if n > 0 {
			message.Part = buf[:n]
			if err := stream.Send(message); err != nil { // the party has answered already
				break
			}
			message = new(rpc.SendTableRequest)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	_, err = stream.CloseAndReceive()
	return err
}
