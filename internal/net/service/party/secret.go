// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// patience is how long to wait for helpers that do not answer.
const patience = 5 * time.Second

// Add implements rpc.PartyHandler.
func (s *Server) Add(ctx context.Context,
	r *connect.Request[rpc.AddRequest]) (*connect.Response[rpc.AddResponse], error) {
	err := s.serveCall(ctx, "add", func(ctx context.Context, who identity.Caller) (*Query, error) {
		text := r.Msg.GetQuery().GetQuery()
		q, id, err := s.openQuery(r.Msg.GetQuery(), who)
		if err != nil {
			return q, err
		}
		announced, sumID, err := s.agreeToSum(q, text, who, secretsum.FromProto(r.Msg.GetSum()))
		if err != nil {
			return q, err
		}
		// Each sum is one more that someone may open: it has a price of its own.
		id = sha256.Sum256(slices.Concat(id[:], sumID[:]))
		if err := s.awaitFiles(ctx, &work{id: id, query: q, who: who, text: text, sum: announced},
			func() error { return s.meetHelpers(ctx, announced, sumID) }); err != nil {
			return q, err
		}
		if err := s.deliverShares(ctx, id, announced, sumID); err != nil {
			return q, err
		}
		s.metrics.answers.Inc()
		return q, nil
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(new(rpc.AddResponse)), nil
}

// agreeToSum checks an announced sum against the query and the operator's permissions.
func (s *Server) agreeToSum(q *Query, text []byte, who identity.Caller,
	signed secretsum.Signed) (*secretsum.Sum, secretsum.ID, error) {
	refuse := func(format string, args ...any) (*secretsum.Sum, secretsum.ID, error) {
		return nil, secretsum.ID{}, problem.New(problem.NotAllowed, format, args...)
	}
	announced, id, err := signed.Open(s.Self, s.Now())
	terms := s.Terms()
	switch {
	case err != nil:
		return nil, id, problem.New(problem.Malformed, "%v", err)
	case q.Honest < 1:
		return nil, id, problem.New(problem.Malformed, "the query is not for a secret sum")
	case announced.Collector != who:
		return refuse("a sum that %s collects", announced.Collector)
	case announced.Topic != sha256.Sum256(text):
		return refuse("a sum about another query")
	case len(announced.Roster) > max(2, q.Params.Parties):
		return refuse("a sum of more than %d parties", q.Params.Parties)
	case s.rosterPlace(announced) < 0:
		return refuse("a sum without this party's key")
	case len(announced.Helpers) != len(terms.Helpers):
		return refuse("a sum of %d helpers, not %d", len(announced.Helpers), len(terms.Helpers))
	}
	for _, h := range announced.Helpers {
		if terms.Helpers[h.Name] == "" {
			return refuse("a sum of helper %s", h.Name)
		}
	}
	return announced, id, s.among(q, announced, terms)
}

// among refuses a sum in which fewer parties may draw their share of the noise than the query assumes.
// All parties in it are on the operator's list, of which at most Peers-Honest do not draw it. The
// combiner chooses the parties in the sum, so that all of those may be among them.
func (s *Server) among(q *Query, announced *secretsum.Sum, terms *Terms) error {
	for i, k := range announced.Roster {
		if !terms.Peers.Has(k) { // 5.7
			return problem.New(problem.NotAllowed, "a sum whose party %d is not one of this party's %d peers", i+1,
				terms.Peers.Len())
		}
	}
	idle := terms.Peers.Len() - terms.Honest
	if q.Honest > announced.AtLeast-idle { // 5.5
		return problem.New(problem.NotAllowed,
			"a sum of at least %d parties that counts on the noise of %d: %d of this party's %d peers may add none",
			announced.AtLeast, q.Honest, idle, terms.Peers.Len())
	}
	return nil
}

// rosterPlace returns the party's index in the roster, -1 if it is not in it.
func (s *Server) rosterPlace(announced *secretsum.Sum) int {
	return slices.Index(announced.Roster, s.ownKey())
}

// ownKey returns the public half of the party's key.
func (p *Params) ownKey() secretsum.Key { return secretsum.Key(p.Key.Public().(ed25519.PublicKey)) }

// share writes the shares of the party's vector, one for each helper. They are made only once:
// splitting the vector again would reveal the difference.
func (s *Server) share(ctx context.Context, w *work, to io.Writer) error {
	votes, err := os.CreateTemp(s.votesDir(), "votes"+partial+"*")
	if err != nil {
		return err
	}
	defer os.Remove(votes.Name())
	defer votes.Close()
	if err := s.Cast(ctx, w.query, w.files, &roomy{File: votes}); err != nil {
		return err
	}
	if _, err := votes.Seek(0, io.SeekStart); err != nil {
		return err
	}
	addend, err := s.Params.Add(ctx, w.query, w.files, votes)
	if err != nil {
		return err
	}
	protocol, err := w.sum.Protocol()
	if err != nil {
		return err
	}
	messages, err := protocol.Split(rng.System(), s.rosterPlace(w.sum), addend)
	if err != nil {
		return err
	}
	shares := make([]secretsum.Share, len(messages))
	for _, m := range messages {
		if shares[m.To], err = secretsum.Seal(m, s.Key); err != nil {
			return err
		}
	}
	return json.NewEncoder(to).Encode(shares)
}

// dialHelpers makes clients of a sum's helpers, nil for those that do not take part, and counts the
// others.
func (s *Server) dialHelpers(announced *secretsum.Sum) (clients []*secretsum.Client, there int, hangUp func()) {
	clients = make([]*secretsum.Client, len(announced.Helpers))
	helpers := s.Terms().Helpers
	for i, h := range announced.Helpers {
		if h.Memory == (secretsum.Memory{}) { // it takes no part
			continue
		}
		there++
		clients[i] = secretsum.Dial(s.Self, h.Name, helpers[h.Name], s.Log)
	}
	return clients, there, func() {
		for _, c := range clients {
			if c != nil {
				c.Close()
			}
		}
	}
}

// meetHelpers refuses a sum if too few helpers to open it accept its shares, because they
// would be paid for and never opened.
func (s *Server) meetHelpers(ctx context.Context, announced *secretsum.Sum, sumID secretsum.ID) error {
	protocol, err := announced.Protocol()
	if err != nil {
		return problem.New(problem.Malformed, "%v", err)
	}
	clients, there, hangUp := s.dialHelpers(announced)
	defer hangUp()
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	takes := make(chan error, len(clients))
	defer func() { // none is left behind
		cancel()
		for ; there > 0; there-- {
			<-takes
		}
	}()
	for _, c := range clients {
		if c != nil {
			go func() { takes <- c.Takes(ctx, sumID) }()
		}
	}
	taking, quorum := 0, protocol.Quorum()
	for ; there > 0 && taking < quorum; there-- {
		if <-takes == nil {
			taking++
		}
	}
	if taking < quorum {
		return problem.New(problem.Overloaded, "%d of %d helpers take shares of the sum, which %d open", taking,
			len(clients), quorum)
	}
	return nil
}

// deliverShares sends the stored shares. It is done when all helpers have theirs, or when enough
// helpers have them and the others have not answered for a while.
func (s *Server) deliverShares(ctx context.Context, id ID, announced *secretsum.Sum, sumID secretsum.ID) error {
	text, err := openfile.Read(s.votesPath(id))
	if err != nil {
		return err
	}
	var shares []secretsum.Share
	if err := json.Unmarshal(text, &shares); err != nil {
		return err
	}
	protocol, err := announced.Protocol()
	if err != nil {
		return err
	}
	clients, there, hangUp := s.dialHelpers(announced)
	defer hangUp()
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	switch d := secretsum.Deliver(ctx, sumID, clients, [][]secretsum.Share{shares}); {
	case d.Kept[0] == there || d.Kept[0] >= protocol.Quorum():
		return nil
	case d.Late:
		return problem.New(problem.Late, "the helpers wait no longer")
	default:
		s.Log.Warn("helpers lack shares", "sum", fmt.Sprintf("%x", sumID[:6]), "have", d.Kept[0], "need", protocol.Quorum(),
			"refused", fmt.Sprint(d.Refused))
		return problem.New(problem.Overloaded, "%d of %d helpers have this party's shares", d.Kept[0], len(announced.Helpers))
	}
}
