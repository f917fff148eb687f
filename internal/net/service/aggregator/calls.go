// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"math"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// askAgain is the shortest time that callers should wait.
const askAgain = 500 * time.Millisecond

// GetTask implements rpc.AggregatorHandler.
func (s *Server) GetTask(ctx context.Context,
	r *connect.Request[rpc.GetTaskRequest]) (*connect.Response[rpc.GetTaskResponse], error) {
	l, err := s.findTask(ctx, r.Msg.GetTaskId())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&rpc.GetTaskResponse{Task: &rpc.SignedTask{
		Announcement: l.signed.Text, Certificate: l.signed.Signature.Certificate, Signature: l.signed.Signature.Value,
	}, Owners: uint64(s.mostOwners(l, admission.Caller(ctx)))}), nil
}

// GetRoster implements rpc.AggregatorHandler.
func (s *Server) GetRoster(ctx context.Context,
	r *connect.Request[rpc.GetRosterRequest]) (*connect.Response[rpc.GetRosterResponse], error) {
	l, err := s.findTask(ctx, r.Msg.GetTaskId())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&rpc.GetRosterResponse{Keys: l.roster}), nil
}

// ListTasks implements rpc.AggregatorHandler.
func (s *Server) ListTasks(context.Context,
	*connect.Request[rpc.ListTasksRequest]) (*connect.Response[rpc.ListTasksResponse], error) {
	out := new(rpc.ListTasksResponse)
	for _, l := range s.allTasks() {
		out.Tasks = append(out.Tasks, l.currentRound().GetState())
	}
	return connect.NewResponse(out), nil
}

// GetRound implements rpc.AggregatorHandler.
func (s *Server) GetRound(ctx context.Context,
	r *connect.Request[rpc.GetRoundRequest]) (*connect.Response[rpc.GetRoundResponse], error) {
	l, err := s.findTask(ctx, r.Msg.GetTaskId())
	if err != nil {
		return nil, err
	}
	answer := l.currentRound()
	if r.Msg.Slot != nil && r.Msg.GetSlot() != answer.GetState().GetSlot() {
		answer.Broadcast, answer.Sum = nil, nil
	}
	answer.RetryAfterMs = uint32(l.askAgain().Milliseconds())
	return connect.NewResponse(answer), nil
}

// askAgain returns how long a caller should wait for a slot: a small part of the slot's time, and of
// the quiet time that closes it.
func (l *live) askAgain() time.Duration {
	d := l.ann.Slot / 50
	if q := l.ann.Quiet / 2; q > 0 {
		d = min(d, q)
	}
	return max(askAgain, min(d, time.Minute))
}

// currentRound returns the public state of a task: its progress, and the broadcast for the owners of
// the open slot.
func (l *live) currentRound() *rpc.GetRoundResponse {
	l.mu.RLock()
	defer l.mu.RUnlock()
	state := &rpc.TaskState{
		TaskId: l.id[:], Slot: uint32(l.slot), Slots: uint32(l.ann.Task.Slots()),
		Reports: uint64(l.stored), Needed: uint64(l.ann.Minimum), DeadlineUnixMs: l.deadline.UnixMilli(),
		Sharing: l.secret != nil,
	}
	out := &rpc.GetRoundResponse{State: state}
	switch l.state {
	case store.Open:
		state.State = rpc.State_STATE_OPEN
		out.Broadcast = l.text
		if x := l.secret; x != nil {
			out.Sum = &rpc.SignedSum{Sum: x.Sum, Certificate: x.Certificate, Signature: x.Signature}
		}
	case store.Done:
		state.State = rpc.State_STATE_DONE
	default:
		state.State = rpc.State_STATE_CLOSED
	}
	return out
}

// GetModel implements rpc.AggregatorHandler.
func (s *Server) GetModel(ctx context.Context,
	r *connect.Request[rpc.GetModelRequest]) (*connect.Response[rpc.GetModelResponse], error) {
	l, err := s.findTask(ctx, r.Msg.GetTaskId())
	if err != nil {
		return nil, err
	}
	file, err := s.Store.Model(ctx, l.id)
	switch {
	case err != nil:
		return nil, err
	case file != nil:
		return connect.NewResponse(&rpc.GetModelResponse{Model: file}), nil
	}
	if l.currentRound().GetState().GetState() == rpc.State_STATE_CLOSED {
		return nil, problem.New(problem.TaskClosed, "it ended without a model")
	}
	return connect.NewResponse(&rpc.GetModelResponse{RetryAfterMs: uint32(askAgain.Milliseconds())}), nil
}

// CreateTask implements rpc.AggregatorHandler.
func (s *Server) CreateTask(ctx context.Context,
	r *connect.Request[rpc.CreateTaskRequest]) (*connect.Response[rpc.CreateTaskResponse], error) {
	t := r.Msg.GetTask()
	signed := tasks.Signed{Text: t.GetAnnouncement(),
		Signature: identity.Signature{Certificate: t.GetCertificate(), Value: t.GetSignature()}}
	ann, err := s.openTask(signed)
	if err != nil {
		return nil, err
	}
	roster, err := namedRoster(ann, r.Msg.GetRoster())
	if err != nil {
		return nil, err
	}
	digest, err := ann.Task.Digest()
	if err != nil {
		return nil, err
	}
	if _, err := s.findTask(ctx, digest[:]); err != nil { // what is made already may be made again
		if err := s.judgeTask(ann, signed, roster, r.Msg.GetOwners()); err != nil {
			return nil, err
		}
	}
	if roster != nil {
		if err := s.Store.Keep(ctx, roster); err != nil {
			return nil, err
		}
	}
	stored := store.Task{ID: store.ID(digest), Made: s.Now(), Bytes: signed.Text,
		Certificate: signed.Signature.Certificate, Signature: signed.Signature.Value, State: store.Open}
	l, err := loadTask(stored)
	if err != nil {
		return nil, err
	}
	broadcast, err := firstBroadcast(ann)
	if err != nil {
		return nil, err
	}
	if err := s.Store.Create(ctx, stored, store.Round{Broadcast: broadcast, Deadline: l.slotDeadline(s.Now())}); err !=
		nil {
		return nil, err
	}
	if _, err := s.findTask(ctx, digest[:]); err != nil {
		return nil, err
	}
	return connect.NewResponse(&rpc.CreateTaskResponse{TaskId: digest[:]}), nil
}

// judgeTask refuses a task that cannot succeed.
func (s *Server) judgeTask(ann *tasks.Announcement, signed tasks.Signed, roster tasks.Roster, owners uint64) error {
	_, ends, err := signed.Signature.Signer()
	if err != nil {
		return err
	}
	c := tasks.Circumstances{Owners: int(min(owners, math.MaxInt32)), Roster: roster, Signature: ends, Now: s.Now()}
	if err := ann.CheckFeasible(c); err != nil {
		return problem.New(problem.Infeasible, "%v", err)
	}
	return nil
}

// namedRoster returns the list of owners that an announcement names, nil if it names none.
func namedRoster(ann *tasks.Announcement, keys []byte) (tasks.Roster, error) {
	if !ann.Roster.Named() {
		if len(keys) > 0 {
			return nil, problem.New(problem.UnsafeTask, "there is a list of owners that the announcement does not name")
		}
		return nil, nil
	}
	roster, err := tasks.RosterOf(keys)
	if err == nil {
		err = ann.CheckRoster(roster)
	}
	if err != nil {
		return nil, problem.New(problem.UnsafeTask, "%v", err)
	}
	return roster, nil
}

// CloseTask implements rpc.AggregatorHandler.
func (s *Server) CloseTask(ctx context.Context,
	r *connect.Request[rpc.CloseTaskRequest]) (*connect.Response[rpc.CloseTaskResponse], error) {
	l, err := s.findTask(ctx, r.Msg.GetTaskId())
	if err != nil {
		return nil, err
	}
	if who, _, err := l.signed.Signature.Signer(); err != nil || who != admission.Caller(ctx) {
		return nil, problem.New(problem.Forbidden, "the task is of %s, who alone may close it", who)
	}
	if err := s.Store.End(ctx, l.id, store.Any); err != nil {
		return nil, err
	}
	return connect.NewResponse(new(rpc.CloseTaskResponse)), l.refreshState(ctx, s.Store)
}
