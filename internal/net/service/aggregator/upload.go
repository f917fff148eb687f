// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/edkey"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// Upload implements rpc.AggregatorHandler. It answers once all reports that it does not refuse are on
// disk.
func (s *Server) Upload(ctx context.Context,
	r *connect.Request[rpc.UploadRequest]) (*connect.Response[rpc.UploadResponse], error) {
	reports := r.Msg.GetReports()
	if len(reports) > maxReports {
		return nil, problem.New(problem.TooLarge, "%d reports in a request, at most %d", len(reports), maxReports)
	}
	l, err := s.findTask(ctx, r.Msg.GetTaskId())
	if err != nil {
		return nil, err
	}
	who := admission.Caller(ctx)
	refusals := make([]*problem.Problem, len(reports))
	var good []store.Report
	var place []int
	for i, signed := range reports {
		report, p := l.checkReport(signed)
		if p != nil {
			refusals[i] = p
			continue
		}
		report.Via, report.Most = who.String(), s.mostOwners(l, who)
		good, place = append(good, report), append(place, i)
	}
	outcomes, err := s.writer.storeReports(ctx, good)
	if err != nil {
		return nil, err
	}
	fresh := map[int]int{} // by slot
	for k, o := range outcomes {
		if o == store.Stored {
			fresh[good[k].Round]++
		}
		refusals[place[k]] = outcomeProblem(o)
	}
	for slot, n := range fresh {
		l.noteReports(slot, n)
		s.metrics.accepted.Add(float64(n))
	}
	refused := s.metrics.RefusedItems(rpc.AggregatorUploadProcedure, refusals)
	return connect.NewResponse(&rpc.UploadResponse{Refusals: refused}), nil
}

// mostOwners returns the number of owners that a caller's certificate may bring to a task; 0 if the
// task has a list of owners.
func (s *Server) mostOwners(l *live, who identity.Caller) int {
	if l.roster != nil {
		return 0
	}
	if n, declared := s.Relays[who.Name]; declared {
		return n
	}
	return s.OwnersEach
}

// outcomeProblem converts an outcome of the store to the problem for the sender of a report.
func outcomeProblem(o store.Outcome) *problem.Problem {
	switch o {
	case store.Stored, store.Again:
		return nil
	case store.Replayed:
		return problem.New(problem.Replayed, "")
	case store.Early:
		return problem.New(problem.Early, "")
	case store.Crowded:
		return problem.New(problem.Crowded, "")
	default:
		return problem.New(problem.Late, "")
	}
}

// checkReport checks a report against the task. A report for a past slot is passed to the store,
// because only the store knows whether it is a repetition.
func (l *live) checkReport(signed *rpc.SignedReport) (store.Report, *problem.Problem) {
	none := store.Report{}
	raw := signed.GetReport()
	if len(raw) > wire.MaxReport {
		return none, problem.New(problem.TooLarge, "a report has at most %d bytes, got %d", wire.MaxReport, len(raw))
	}
	rep, err := wire.ParseReport(raw)
	if err != nil {
		return none, problem.New(problem.Malformed, "")
	}
	key, ok := keyOf(rep.Owner)
	if !ok {
		return none, problem.New(problem.Malformed, "an owner's name is its key, %d lower-case hexadecimal digits",
			2*ed25519.PublicKeySize)
	}
	if rep.Task != wire.Digest(l.id) {
		return none, problem.New(problem.UnknownTask, "the report is of task %s", rep.Task)
	}
	if l.roster != nil && !l.roster.Has(key) {
		return none, problem.New(problem.UnknownOwner, "")
	}
	place := l.placing.Of(rep.Owner)
	if rep.Slot != place.Slot {
		return none, problem.New(problem.WrongGroup, "the owner answers in slot %d, not %d", place.Slot, rep.Slot)
	}
	if !ed25519.Verify(key[:], tasks.Signable(raw), signed.GetSignature()) {
		return none, problem.New(problem.BadSignature, "")
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	switch {
	case rep.Slot > l.slot:
		return none, problem.New(problem.Early, "slot %d, the open one is %d", rep.Slot, l.slot)
	case l.isSecret(): // the owner takes part: what it has to say goes to the helpers
		if rep.Ask != 0 || len(rep.Words) > 0 {
			return none, problem.New(problem.OutOfRange, "in mode aggregate nobody sends numbers here")
		}
	case rep.Slot == l.slot:
		ask := l.asked.Ask(place.Ticket)
		if rep.Ask != ask {
			return none, problem.New(problem.WrongRound, "the owner is asked question %d, not %d", ask, rep.Ask)
		}
		if err := l.laws[ask].Check(rep.Words); err != nil {
			return none, problem.New(problem.OutOfRange, "")
		}
	}
	return store.Report{Task: l.id, Round: rep.Slot, Owner: key, Body: raw}, nil
}

// keyOf returns the key in an owner's name, and whether it is a valid one.
func keyOf(name string) (key [ed25519.PublicKeySize]byte, ok bool) {
	if len(name) != 2*len(key) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(name))
	return key, err == nil && hex.EncodeToString(key[:]) == name && edkey.Check(key[:]) == nil
}
