// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// Client calls one aggregator under one identity.
type Client struct {
	calls rpc.AggregatorClient
	self  *identity.Identity
}

// CheckAddress refuses an invalid address of an aggregator. It requires TLS, because otherwise
// everyone on the network could see who requests what.
func CheckAddress(server string) error {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return &dp.ParamError{Op: "federation", Param: "server", Want: "must look like https://host:port", Got: server}
	}
	return nil
}

// NewClient returns a client of the aggregator at an address. It sends nothing.
func NewClient(server string, self *identity.Identity) (*Client, error) {
	if err := CheckAddress(server); err != nil {
		return nil, err
	}
	h := self.HTTPClient(identity.Aggregator)
	h.Timeout = time.Minute
	return &Client{rpc.NewAggregatorClient(h, server, admission.Replies(2*wire.MaxText)), self}, nil
}

// ParseTaskID parses a task's ID: the hexadecimal digits that Create returns.
func ParseTaskID(text string) (id wire.Digest, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, dp.Refuse("federation", "task", fmt.Sprintf("must be %d hexadecimal digits, as task create prints them",
			2*len(id)), text)
	}
	return wire.Digest(b), nil
}

// explainAnswer converts a refusal of the aggregator to an error in words.
func explainAnswer(err error) error {
	if p := problem.Of(err); p.Kind != problem.Internal {
		return fmt.Errorf("the aggregator refuses: %w", p)
	}
	return fmt.Errorf("asking the aggregator: %w", problem.Named(err))
}

// Create checks that an announcement can succeed, signs it and sends it to the aggregator, with the
// list of owners that it names, nil if it names none. owners is the expected number of owners.
func (c *Client) Create(ctx context.Context, a *tasks.Announcement, roster tasks.Roster, owners int) (
	id []byte, err error,
) {
	if roster != nil {
		a.Roster = roster.Digest()
		if err := a.Check(); err != nil {
			return nil, err
		}
		if err := a.CheckRoster(roster); err != nil {
			return nil, err
		}
	}
	ends, _ := c.self.Ends()
	if err := a.CheckFeasible(tasks.Circumstances{Owners: owners, Roster: roster, Signature: ends,
		Now: time.Now()}); err != nil {
		return nil, err
	}
	signed, err := a.Sign(c.self)
	if err != nil {
		return nil, err
	}
	r, err := c.calls.CreateTask(ctx, connect.NewRequest(&rpc.CreateTaskRequest{Task: &rpc.SignedTask{
		Announcement: signed.Text, Certificate: signed.Signature.Certificate, Signature: signed.Signature.Value,
	}, Roster: roster, Owners: uint64(owners)}))
	if err != nil {
		return nil, explainAnswer(err)
	}
	return r.Msg.GetTaskId(), nil
}

// Status is the progress of a task.
type Status struct {
	Task     string    `json:"task"`
	State    string    `json:"state"` // open, done or closed
	Slot     uint32    `json:"slot"`  // from 1
	Slots    uint32    `json:"slots"`
	Reports  uint64    `json:"reports"` // of the open slot
	Needed   uint64    `json:"needed"`
	Deadline time.Time `json:"deadline"` // of the open slot
	Sharing  bool      `json:"sharing"`  // the open slot's owners are known: helpers accept their shares
}

func describeState(s *rpc.TaskState) Status {
	return Status{
		Task: fmt.Sprintf("%x", s.GetTaskId()), State: strings.ToLower(strings.TrimPrefix(s.GetState().String(), "STATE_")),
		Slot: s.GetSlot() + 1, Slots: s.GetSlots(), Reports: s.GetReports(), Needed: s.GetNeeded(),
		Deadline: time.UnixMilli(s.GetDeadlineUnixMs()).UTC(), Sharing: s.GetSharing(),
	}
}

// Line returns the status in one line.
func (s Status) Line() string {
	if s.State != "open" {
		return fmt.Sprintf("%s  %s\n", s.Task, s.State)
	}
	if s.Sharing {
		return fmt.Sprintf("%s  open, slot %d of %d: %d owners take part, helpers take their shares\n", s.Task, s.Slot,
			s.Slots, s.Reports)
	}
	return fmt.Sprintf("%s  open, slot %d of %d: %d reports, %d needed, until %s\n", s.Task, s.Slot, s.Slots, s.Reports,
		s.Needed, s.Deadline.Format(time.RFC3339))
}

// List returns the status of every task of the aggregator.
func (c *Client) List(ctx context.Context) ([]Status, error) {
	r, err := c.calls.ListTasks(ctx, connect.NewRequest(&rpc.ListTasksRequest{}))
	if err != nil {
		return nil, explainAnswer(err)
	}
	all := []Status{}
	for _, t := range r.Msg.GetTasks() {
		all = append(all, describeState(t))
	}
	return all, nil
}

// Await returns the status of a task; with wait, it returns once the task is done or closed.
func (c *Client) Await(ctx context.Context, id wire.Digest, wait bool) (Status, error) {
	for {
		r, err := c.calls.GetRound(ctx, connect.NewRequest(&rpc.GetRoundRequest{TaskId: id[:]}))
		if err != nil {
			return Status{}, explainAnswer(err)
		}
		s := describeState(r.Msg.GetState())
		if !wait || s.State != "open" {
			return s, nil
		}
		if err := problem.Pause(ctx, time.Duration(max(100, r.Msg.GetRetryAfterMs()))*time.Millisecond); err != nil {
			return s, err
		}
	}
}

// Announcement fetches the signed announcement of a task, and returns its signer.
func (c *Client) Announcement(ctx context.Context, id wire.Digest) (
	text []byte, ann *tasks.Announcement, who identity.Caller, err error,
) {
	r, err := c.calls.GetTask(ctx, connect.NewRequest(&rpc.GetTaskRequest{TaskId: id[:]}))
	if err != nil {
		return nil, nil, who, explainAnswer(err)
	}
	t := r.Msg.GetTask()
	who, err = c.self.Verify(identity.Signature{Certificate: t.GetCertificate(), Value: t.GetSignature()}, tasks.Purpose,
		t.GetAnnouncement(), time.Now())
	if err != nil || who.Role != identity.Operator {
		return nil, nil, who, errors.Join(errors.New("task: no operator has signed what the aggregator sent"), err)
	}
	if ann, err = tasks.Parse(t.GetAnnouncement()); err != nil {
		return nil, nil, who, err
	}
	if d, err := ann.Task.Digest(); err != nil || d != id {
		return nil, nil, who, errors.Join(errors.New("task: the aggregator sent another task than the one asked for"), err)
	}
	return t.GetAnnouncement(), ann, who, nil
}

// Roster fetches a task's list of owners, and checks that it is the one in the announcement.
func (c *Client) Roster(ctx context.Context, id wire.Digest) (r tasks.Roster, who identity.Caller, err error) {
	_, ann, who, err := c.Announcement(ctx, id)
	if err != nil {
		return nil, who, err
	}
	if !ann.Roster.Named() {
		return nil, who, errors.New("task: it has no list of owners: anyone with a key may report")
	}
	answer, err := c.calls.GetRoster(ctx, connect.NewRequest(&rpc.GetRosterRequest{TaskId: id[:]}))
	if err != nil {
		return nil, who, explainAnswer(err)
	}
	if r, err = tasks.RosterOf(answer.Msg.GetKeys()); err != nil {
		return nil, who, err
	}
	if r.Digest() != ann.Roster {
		return nil, who, errors.New("task: the aggregator sent another list of owners than the operator has signed")
	}
	return r, who, nil
}

// Model fetches the model of a finished task.
func (c *Client) Model(ctx context.Context, id wire.Digest) (*model.Model, error) {
	r, err := c.calls.GetModel(ctx, connect.NewRequest(&rpc.GetModelRequest{TaskId: id[:]}))
	if err != nil {
		return nil, explainAnswer(err)
	}
	if len(r.Msg.GetModel()) == 0 {
		return nil, &dp.Advised{Err: errors.New("task: it has no model yet"), Next: dp.Step{Kind: dp.GiveParam, Name: "wait", Why: "to wait for one"}}
	}
	return model.Unmarshal(r.Msg.GetModel())
}

// Close ends a task without a model. Only the operator who signed it can do so.
func (c *Client) Close(ctx context.Context, id wire.Digest) error {
	if _, err := c.calls.CloseTask(ctx, connect.NewRequest(&rpc.CloseTaskRequest{TaskId: id[:]})); err != nil {
		return explainAnswer(err)
	}
	return nil
}
