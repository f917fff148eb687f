// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"errors"
	"io"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// Vote implements rpc.PartyHandler.
func (s *Server) Vote(ctx context.Context, r *connect.Request[rpc.VoteRequest],
	to *connect.ServerStream[rpc.VoteResponse]) error {
	return s.serveCall(ctx, "vote", func(ctx context.Context, who identity.Caller) (*Query, error) {
		q, id, err := s.openQuery(r.Msg.GetQuery(), who)
		if err != nil {
			return q, err
		}
		if q.Honest > 0 {
			return q, problem.New(problem.Malformed, "the query is for a secret sum")
		}
		if err := s.awaitFiles(ctx, &work{id: id, query: q, who: who, text: r.Msg.GetQuery().GetQuery()},
			func() error { return nil }); err != nil {
			return q, err
		}
		f, err := openfile.Regular(s.votesPath(id))
		if err != nil {
			return q, err
		}
		defer f.Close()
		for buf := make([]byte, partBytes); ; {
			n, err := f.Read(buf)
			if n > 0 {
				if err := to.Send(&rpc.VoteResponse{Part: buf[:n]}); err != nil {
					return q, err
				}
			}
			if err == io.EOF {
				s.metrics.answers.Inc()
				return q, nil
			}
			if err != nil {
				return q, err
			}
		}
	})
}

// SendTable implements rpc.PartyHandler.
func (s *Server) SendTable(ctx context.Context,
	from *connect.ClientStream[rpc.SendTableRequest]) (*connect.Response[rpc.SendTableResponse], error) {
	err := s.serveCall(ctx, "send-table", func(ctx context.Context, who identity.Caller) (*Query, error) {
		if !from.Receive() {
			return nil, errors.Join(from.Err(), problem.New(problem.Malformed, "a table begins with its query"))
		}
		first := from.Msg()
		q, _, err := s.openQuery(first.GetQuery(), who)
		if err != nil {
			return q, err
		}
		file := int(first.GetFile())
		if file >= len(q.Tables) {
			return q, problem.New(problem.Malformed, "the query has %d files", len(q.Tables))
		}
		// it is here, or not allowed
		if _, err := s.shelf.findFile(q.Tables[file], s.Terms()); problem.Of(err).Kind != problem.UnknownTable {
			return q, err
		}
		part := first.GetPart()
		return q, s.shelf.receiveFile(ctx, q.Tables[file], func() ([]byte, error) {
			if part != nil {
				now := part
				part = nil
				return now, nil
			}
			if from.Receive() {
				return from.Msg().GetPart(), nil
			}
			if err := from.Err(); err != nil {
				return nil, problem.New(problem.Malformed, "the file broke off")
			}
			return nil, io.EOF
		})
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(new(rpc.SendTableResponse)), nil
}

// openQuery reads a signed query and checks it against the operator's permissions.
func (s *Server) openQuery(m *rpc.SignedQuery, who identity.Caller) (*Query, ID, error) {
	now := s.Now()
	q, signer, err := Signed{m.GetQuery(), identity.Signature{Certificate: m.GetCertificate(),
		Value: m.GetSignature()}}.Open(s.Self, now)
	switch {
	case signer == identity.Caller{} || signer.Role != identity.Combiner:
		return nil, ID{}, problem.New(problem.BadSignature, "no combiner has signed the query")
	case err != nil:
		return nil, ID{}, problem.New(problem.Malformed, "%v", err)
	case signer != who:
		return nil, ID{}, problem.New(problem.Forbidden, "%s asks what %s has signed", who, signer)
	case !now.Before(q.Deadline):
		return q, ID{}, problem.New(problem.Late, "the query's deadline was %s", q.Deadline.UTC().Format(time.RFC3339))
	case q.Deadline.Sub(now) > maxAhead:
		return q, ID{}, problem.New(problem.NotAllowed, "a deadline more than %s ahead", maxAhead)
	}
	id, err := q.queryID(who)
	if err == nil {
		err = s.check(q, who)
	}
	return q, id, err
}

// awaitFiles waits until the answer to a query is on disk. The query is charged once, before the
// answer is made; without its table it costs nothing. met is called before a query that has no answer.
func (s *Server) awaitFiles(ctx context.Context, w *work, met func() error) (err error) {
	q, terms := w.query, s.Terms()
	w.files, w.done = make([]string, len(q.Tables)), make(chan struct{})
	if err := s.findJob(ctx, w); err != nil {
		return err
	}
	for i, t := range q.Tables {
		if w.files[i], err = s.shelf.findFile(t, terms); err != nil {
			return err
		}
	}
	if answered, err := s.isAnswered(w); answered || err != nil {
		return err
	}
	if err := met(); err != nil {
		return err
	}
	now, err := s.enqueueWork(w)
	if err != nil {
		return err
	}
	wait := time.NewTimer(s.wait)
	defer wait.Stop()
	select {
	case <-now.done:
		if now.err != nil {
			return now.err
		}
		if err := s.findJob(ctx, w); err != nil {
			return err
		}
		if answered, err := s.isAnswered(w); err != nil || !answered { // it may have been begun for an earlier deadline
			return errors.Join(problem.New(problem.Overloaded, "the party is voting"), err)
		}
		return nil
	case <-wait.C:
		return problem.New(problem.Overloaded, "the party is voting")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enqueueWork returns the running work on a query, or starts it.
func (s *Server) enqueueWork(w *work) (*work, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.works[w.id]; before != nil {
		return before, nil
	}
	select {
	case s.queue <- w:
		s.works[w.id] = w
		return w, nil
	default:
		return nil, problem.New(problem.Overloaded, "")
	}
}
