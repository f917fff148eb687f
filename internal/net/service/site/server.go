// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// The calls that a coordinator makes to a site.
const (
	joinCall  = "/discreet.site.v1/join"
	beginCall = "/discreet.site.v1/begin"
	askCall   = "/discreet.site.v1/ask"
	endCall   = "/discreet.site.v1/end"

	evaluateCall = "/discreet.site.v1/evaluate"
)

// Params are the options of a site's operator.
type Params struct {
	Self   *identity.Identity // certificate of a party
	Policy *Policy            // the initial policy; see Server.Replace
	Key    ed25519.PrivateKey // the site's signing key, whose public half is in Policy.Sites
	State  string             // the folder of the permanent state
	// Anchors note outside of State how far each training has come and the number of the newest policy,
	// so that a restored copy of State and an older policy are detected.
	Anchors anchor.Folder
	Table   engine.Table // nil: the site votes alone
	// Rows is a digest of the files from which Table was read.
	Rows sites.Digest
	// HeldOut are rows for evaluations; nil: no evaluations are answered.
	HeldOut *HeldOut
	// Voting is how the site votes; nil: it does not.
	Voting *Voting
	// Charge opens the account of a training in the site's ledger.
	Charge func(context.Context, Order) (Account, error)
	Log    *slog.Logger
	Now    func() time.Time
	// Program is the version of the program, which the policy may restrict.
	Program string
}

// Order is what a site charges.
type Order struct {
	Data          string       // the data set in the ledger
	Training, Set sites.Digest // one training is charged for one set
	// Resume is set if this order was on disk before, and nothing has been answered: it may have been charged.
	Resume bool
}

// Request is the job to charge. It is of the set, and so of the keys in this site's state: a site that lost
// them does not go on with what was charged (3.9).
func (o Order) Request() ledger.Request {
	return ledger.Request{Dataset: o.Data, ID: string(o.Training), Config: []byte(o.Training + " " + o.Set), Resume: o.Resume}
}

// Account is the account to which a training is charged.
type Account interface {
	guard.Account
	// Abandon closes an account whose price stays spent.
	Abandon(ctx context.Context, reason string) error
}

const (
	maxBody     = 16 << 20
	longest     = 10 * time.Minute
	callsAtOnce = 8
)

// StateNames matches the file names in Params.State.
const StateNames = `trainings|` + party.StateNames

// Server is a running site.
type Server struct {
	Params
	meters  *meters
	calls   http.Handler
	votes   *party.Server   // nil if the site does not vote
	gate    *admission.Gate // but for the names of callers
	charter atomic.Pointer[charter]

	mu   sync.Mutex
	open map[sites.Digest]*training
}

// charter is what an officer may change while the site runs.
type charter struct {
	policy *Policy
	key    ed25519.PrivateKey
	terms  *party.Terms // of votes
	gate   http.Handler
}

// policy returns the current policy.
func (s *Server) policy() *Policy { return s.charter.Load().policy }

// training is one training at this site.
type training struct {
	mu        sync.Mutex
	id        sites.Digest
	folder    folder
	about     sites.Training
	masks     *sites.Masks
	responder *sites.Responder // nil until the training begins, and after a failure
	account   Account          // nil after a restart
	next      int              // the number of the next measurement
}

// New makes a site's server.
func New(p Params) (*Server, error) {
	switch {
	case p.Self.Role != identity.Party || p.Self.Name != p.Policy.Site:
		return nil, dp.Refuse("site", "certificate", "must be party/"+p.Policy.Site, p.Self.Caller)
	case (p.Table != nil) != p.Policy.trains():
		return nil, dp.Refuse("site", "data", "must be given if the policy allows trainings, by its schema, and else not", nil)
	case (p.Voting != nil) != (p.Policy.Votes != nil):
		return nil, dp.Refuse("site", "votes", "must be in the policy if a model or a command is given, and else not", nil)
	case (p.HeldOut != nil) != (p.Policy.HeldOut != ""):
		return nil, dp.Refuse("site", "held-out", "must be given if the policy names held_out, and else not", nil)
	case p.HeldOut != nil && p.HeldOut.Rows == p.Rows: // which would be charged to two totals
		return nil, dp.Refuse("site", "held-out", "must be other files than those of trainings", nil)
	}
	if p.Table != nil {
		if err := checkSchema("site", p.Table.Schema()); err != nil {
			return nil, err
		}
	}
	s := &Server{Params: p, open: map[sites.Digest]*training{}}
	if err := os.MkdirAll(s.trainings(), 0o700); err != nil {
		return nil, err
	}
	if err := s.endIdle(context.Background()); err != nil {
		return nil, err
	}
	if p.Voting != nil {
		var err error
		if s.votes, err = s.newVotes(); err != nil {
			return nil, err
		}
	}
	s.meters = newMeters(s)
	s.gate = &admission.Gate{Self: s.Self, May: map[string][]identity.Role{}, Body: maxBody, Places: map[string]*admission.Places{},
		Longest: longest, Metrics: s.meters.Metrics, Log: s.Log}
	calls, places := http.NewServeMux(), admission.NewPlaces(callsAtOnce, 0)
	if s.votes != nil {
		party.Admit(s.gate)
		calls.Handle(s.votes.Handler(s.gate))
	}
	for call, answer := range s.answers() {
		if call != endCall { // keys are erased at any hour
			answer = s.inHours(answer)
		}
		calls.HandleFunc("POST "+call, s.serve(answer))
		s.gate.May[call], s.gate.Places[call] = []identity.Role{identity.Combiner}, places
	}
	s.calls = calls
	return s, s.Replace(p.Policy, p.Key)
}

// answers returns the calls of coordinators.
func (s *Server) answers() map[string]func(context.Context, []byte) ([]byte, error) {
	return map[string]func(context.Context, []byte) ([]byte, error){joinCall: s.join, beginCall: s.begin, askCall: s.ask,
		endCall: s.end, evaluateCall: s.evaluateExactly}
}

// inHours restricts a call to the hours of the policy.
func (s *Server) inHours(call func(context.Context, []byte) ([]byte, error)) func(context.Context, []byte) ([]byte, error) {
	return func(ctx context.Context, body []byte) ([]byte, error) {
		if err := s.policy().checkHours(s.Now()); err != nil {
			return nil, err
		}
		return call(ctx, body)
	}
}

// Replace replaces the policy and the site's key for all later calls. If it refuses the new ones, the
// old ones stay. Trainings that have begun continue if the new policy still names their coordinator.
func (s *Server) Replace(p *Policy, key ed25519.PrivateKey) error {
	own, _ := key.Public().(ed25519.PublicKey)
	if s.Table != nil {
		agreed, err := sites.SchemaDigest(s.Table.Schema())
		switch {
		case err != nil:
			return err
		case agreed != p.Schema:
			return dp.Refuse("site", "schema", "must be the one of the policy", nil)
		case p.checkRows(s.Table.Schema()) != nil:
			return p.checkRows(s.Table.Schema())
		}
	}
	terms, err := p.terms()
	switch {
	case err != nil:
		return err
	case len(p.Programs) > 0 && !slices.Contains(p.Programs, s.Program):
		return dp.Refuse("site", "programs", "must have this program's version, "+s.Program, nil)
	case p.Sites[p.Site] != hex.EncodeToString(own):
		return dp.Refuse("site", "key", "must be the one of the site in the policy", nil)
	case p.trains() != s.Policy.trains() || (terms != nil) != (s.votes != nil) || s.votes != nil && !key.Equal(s.Key):
		return dp.Refuse("site", "policy", "must keep whether the site trains and votes, and a site that votes its key, while it runs", nil)
	case p.Site != s.Policy.Site || p.Data != s.Policy.Data || p.HeldOut != s.Policy.HeldOut:
		return dp.Refuse("site", "policy", "must keep site, data and held_out while the site runs", nil)
	}
	if err := p.CheckNewest(s.Anchors); err != nil {
		return err
	}
	if err := p.noteNewest(s.Anchors); err != nil {
		return err
	}
	of := s.gate
	gate := &admission.Gate{Self: of.Self, May: of.May, Names: p.callers(), Body: of.Body, Bodies: of.Bodies, Streams: of.Streams,
		Places: of.Places, Longest: of.Longest, Metrics: of.Metrics, Log: of.Log}
	s.charter.Store(&charter{p, key, terms, gate.Handler(s.calls)})
	s.meters.replaced.Inc()
	return nil
}

// Page serves metrics and health checks: a site is ready if its disk has enough space.
func (s *Server) Page() http.Handler {
	return s.meters.Watch(func(context.Context) error { return diskroom.Check(s.State, s.roomOfAnswer()) })
}

// Handler answers coordinators. It requires connections of identity.Server.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.charter.Load().gate.ServeHTTP(w, r) })
}

// serve reads a call, logs it and turns errors into problems.
func (s *Server) serve(call func(ctx context.Context, body []byte) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		problem.Reached(ctx)
		who, began := admission.Caller(ctx), s.Now()
		answer, err := func() (answer []byte, err error) {
			defer func() {
				if x := recover(); x != nil {
					s.Log.Error("a call failed", "call", r.URL.Path, "fault", x, "stack", string(debug.Stack()))
					err = problem.New(problem.Internal, "")
				}
			}()
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err != nil {
				return nil, problem.New(problem.TooLarge, "")
			}
			return call(ctx, body)
		}()
		s.meters.Took(r.URL.Path, s.Now().Sub(began))
		if err == nil {
			s.Log.Info("audit", "call", r.URL.Path, "caller", who.String(), "refused", false)
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(answer) // the caller may have gone
			return
		}
		p := s.problemOf(err)
		s.Log.Info("audit", "call", r.URL.Path, "caller", who.String(), "refused", true, "problem", p.Kind.String(), "error", err)
		s.meters.Refused(r.URL.Path, p.Kind)
		p.Write(w)
	}
}

// problemOf returns what a coordinator is told of an error. The state of the ledger is between the site
// and its operator, unless the policy says otherwise.
func (s *Server) problemOf(err error) *problem.Problem {
	switch bad, over := (*dp.ParamError)(nil), (*ledger.Exceeded)(nil); {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, diskroom.ErrFull), errors.Is(err, sqldb.ErrFailed):
		return problem.New(problem.Storage, "")
	case errors.As(err, &bad):
		return problem.New(problem.NotAllowed, "%v", bad)
	case errors.As(err, &over) && over.Institution:
		return problem.New(problem.Spent, "%s", s.policy().clause("votes.total", "%s allowed in total, %s spent, this asks %s",
			dp.Price{Epsilon: over.Limit, Delta: over.LimitDelta}, dp.Price{Epsilon: over.Spent, Delta: over.SpentDelta},
			dp.Price{Epsilon: over.Asked, Delta: over.AskedDelta}))
	case errors.As(err, new(*ledger.Exposed)):
		return problem.New(problem.NotAllowed, "%s", s.policy().clause("votes.protects", "a training has begun, so that the institution "+
			"is not protected"))
	case errors.As(err, &over):
		return problem.New(problem.Spent, "%s", s.policy().clause("lifetime", "%s allowed in total, %s spent, this asks %s",
			dp.Price{Epsilon: over.Limit, Delta: over.LimitDelta}, dp.Price{Epsilon: over.Spent, Delta: over.SpentDelta},
			dp.Price{Epsilon: over.Asked, Delta: over.AskedDelta}))
	case errors.As(err, new(*ledger.Conflict)):
		return problem.New(problem.TaskClosed, "this site's ledger has it, and its state does not: its price stays spent")
	}
	return problem.Of(err)
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// find returns the caller's open training with this digest.
func (s *Server) find(ctx context.Context, id sites.Digest) (*training, error) {
	unknown := problem.New(problem.UnknownTask, "")
	if !digestForm.MatchString(string(id)) {
		return nil, unknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.load(id)
	if err != nil {
		return nil, err
	}
	if t == nil || t.about.Coordinator != admission.Caller(ctx).Name {
		return nil, unknown
	}
	return t, nil
}

// join takes part in a training that the policy allows, without spending anything yet.
func (s *Server) join(ctx context.Context, body []byte) ([]byte, error) {
	var about sites.Training
	if err := sites.Decode(body, &about); err != nil {
		return nil, problem.New(problem.Malformed, "a training")
	}
	if err := s.policy().check(&about, admission.Caller(ctx), s.Now()); err != nil {
		return nil, err
	}
	if err := s.checkEvaluation(&about); err != nil {
		return nil, err
	}
	if err := checkSpelling(&about, body); err != nil {
		return nil, err
	}
	id := sites.TrainingDigest(body)
	to := s.folderOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if to.has(endedFile) {
		return nil, problem.New(problem.TaskClosed, "")
	}
	if ctx.Err() != nil { // the coordinator gave up, and may have ended the training: a key would stay
		return nil, problem.New(problem.Timeout, "")
	}
	var keys *sites.Keys
	private, err := to.read(keysFile)
	switch {
	case err != nil:
		return nil, err
	case private != nil:
		keys, err = sites.KeysOf(private)
	default:
		if err := s.makeRoom(ctx, &about, id, int64(len(body))); err != nil {
			return nil, err
		}
		if err := to.create(); err != nil {
			return nil, err
		}
		if keys, err = sites.NewKeys(); err == nil {
			if err = to.write(trainingFile, body); err == nil { // keys are of a training that is known
				err = to.write(keysFile, keys.Bytes())
			}
		}
	}
	if err != nil {
		return nil, err
	}
	table, err := s.tableOf(&about)
	if err != nil {
		return nil, err
	}
	return json.Marshal(keys.Join(id, s.policy().Site, guard.PublicUnits(table), s.charter.Load().key)) // 3.7
}

// roomOfAnswer is the largest disk space of an answer: 16 bytes per number, in base64.
func (s *Server) roomOfAnswer() int64 { return int64(s.policy().Numbers)*22 + 1<<12 }

// begin fixes the set of sites, and charges the training.
func (s *Server) begin(ctx context.Context, body []byte) ([]byte, error) {
	var set sites.Set
	if err := sites.Decode(body, &set); err != nil {
		return nil, problem.New(problem.Malformed, "a set")
	}
	if err := checkSpelling(&set, body); err != nil {
		return nil, err
	}
	t, err := s.find(ctx, set.Training)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old, err := t.folder.read(setFile)
	if err != nil {
		return nil, err
	}
	if old != nil && string(old) != string(body) { // 3.1
		return nil, problem.New(problem.NotAllowed, "another set of sites, which is another training")
	}
	if t.folder.has(begunFile) {
		return nil, nil
	}
	if err := s.policy().check(&t.about, admission.Caller(ctx), s.Now()); err != nil { // the policy may be newer
		return nil, err
	}
	t.masks = nil
	if _, err := s.masksOf(t, body); err != nil {
		return nil, problem.New(problem.Malformed, "%v", err)
	}
	if err := guard.CheckDelta("site", t.about.Delta, set.Units()); err != nil { // 3.8
		return nil, err
	}
	if old == nil { // a set that is written again would keep the training from being idle
		if err := t.folder.write(setFile, body); err != nil {
			return nil, err
		}
	}
	order := Order{Data: s.policy().Data, Training: t.id, Set: sites.SetDigest(body), Resume: old != nil}
	if t.about.Evaluation != nil {
		order.Data = s.policy().HeldOut
	}
	account, err := s.Charge(ctx, order)
	if err != nil {
		return nil, err
	}
	g, err := s.openGuard(ctx, t, account) // 3.2
	if err != nil {
		return nil, err
	}
	t.account = account
	if err := t.folder.write(begunFile, []byte(s.rowsOf(t))); err != nil {
		return nil, err
	}
	if order.Resume { // the first measurement looks for answers that this state does not hold
		return nil, nil
	}
	t.responder = &sites.Responder{Guard: g, Honest: t.about.Honest, Values: s.policy().Numbers}
	return nil, nil
}

// openGuard charges account for a training, and returns the guard of its rows. If the schema declares
// persons, each counts for as many rows as it says; in an evaluation for one.
func (s *Server) openGuard(ctx context.Context, t *training, account guard.Account) (*guard.Guard, error) {
	table, err := s.tableOf(&t.about)
	if err != nil {
		return nil, err
	}
	g, err := guard.Open(ctx, t.about.Terms(), table, account, mech.NewExit(rng.System()))
	if err != nil {
		return nil, err
	}
	most := 1
	if p := table.Schema().Person; p != nil && t.about.Evaluation == nil {
		most = p.Rows
	}
	return g, g.WeighPersons(most) // 3.6
}

func (s *Server) masksOf(t *training, set []byte) (*sites.Masks, error) {
	if t.masks != nil {
		return t.masks, nil
	}
	private, err := t.folder.read(keysFile)
	if err != nil {
		return nil, err
	}
	keys, err := sites.KeysOf(private)
	if err != nil {
		return nil, err
	}
	var all sites.Set
	if err := sites.Decode(set, &all); err != nil {
		return nil, err
	}
	t.masks, err = keys.NewMasks(&t.about, t.id, &all, sites.SetDigest(set), s.policy().Site)
	return t.masks, err
}

// ask answers a measurement, once.
func (s *Server) ask(ctx context.Context, body []byte) ([]byte, error) {
	var a sites.Ask
	if err := sites.Decode(body, &a); err != nil {
		return nil, problem.New(problem.Malformed, "a measurement")
	}
	t, err := s.find(ctx, a.Training)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rows, err := t.folder.read(begunFile)
	if err != nil {
		return nil, err
	}
	switch {
	case rows == nil:
		return nil, problem.New(problem.NotAllowed, "a measurement before the training began")
	case sites.Digest(rows) != s.rowsOf(t): // 3.3: the same noise on other rows would show their difference
		return nil, problem.New(problem.NotAllowed, "a measurement of rows that have changed since the training began")
	}
	digest := sites.AskDigest(body)
	if a.Number < t.next || t.responder == nil {
		old, err := t.folder.readAnswer(a.Number)
		switch {
		case err != nil:
			return nil, err
		case old != nil && old.Ask != digest:
			return nil, problem.New(problem.NotAllowed, "another measurement under the same number")
		case old != nil:
			return old.Sums, s.Anchors.Note(s.anchorOf(t), anchor.Head{Seq: int64(a.Number), Hash: string(digest)})
		}
	}
	if t.responder == nil {
		if err := s.resume(ctx, t); err != nil {
			return nil, err
		}
	}
	if a.Number != t.next {
		return nil, problem.New(problem.NotAllowed, "measurement %d before measurement %d", a.Number, t.next)
	}
	answer, err := s.answer(ctx, t, &a, digest)
	if err != nil { // what is left of the purse follows from the answers that are kept
		t.responder = nil
	}
	return answer, err
}

// answer makes the answer to a measurement, and stores it before it is sent.
func (s *Server) answer(ctx context.Context, t *training, a *sites.Ask, digest sites.Digest) ([]byte, error) {
	if len(a.Label) > sites.MaxLabel {
		return nil, problem.New(problem.NotAllowed, "a label of more than %d bytes", sites.MaxLabel)
	}
	if a.Number > s.policy().Measurements {
		return nil, problem.New(problem.NotAllowed, "more than %d measurements", s.policy().Measurements)
	}
	if err := diskroom.Check(s.State, s.roomOfAnswer()); err != nil { // before noise is drawn
		return nil, err
	}
	set, err := t.folder.read(setFile)
	if err != nil {
		return nil, err
	}
	masks, err := s.masksOf(t, set)
	if err != nil {
		return nil, err
	}
	sums, err := t.responder.Contribute(ctx, a)
	if err != nil {
		if ctx.Err() != nil {
			return nil, problem.New(problem.Timeout, "")
		}
		s.Log.Info("a measurement is refused", "job", t.id, "error", err)
		return nil, problem.New(problem.NotAllowed, "a measurement that is not within the training")
	}
	if err := masks.Hide(digest, sums); err != nil {
		return nil, err
	}
	kept := answerHead{digest, a.Label, a.Epsilon, a.Rho, sites.Encode(sums)}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	if err := t.folder.keep(t.folder.answer(a.Number), text); err != nil { // 3.4
		return nil, err
	}
	if err := s.Anchors.Note(s.anchorOf(t), anchor.Head{Seq: int64(a.Number), Hash: string(digest)}); err != nil {
		return nil, err
	}
	t.next++
	s.meters.answers.Inc()
	return kept.Sums, nil
}

// anchorOf is the identity under which this site's progress in a training is remembered: sites of one
// machine may have one folder of anchors.
func (s *Server) anchorOf(t *training) string {
	sum := sha256.Sum256([]byte("discreet site anchor " + string(t.id) + " " + s.Policy.Site))
	return hex.EncodeToString(sum[:])
}

// resume opens the guard of a training that was charged before, with what its answers have left.
func (s *Server) resume(ctx context.Context, t *training) error {
	g, err := s.openGuard(ctx, t, guard.Paid(true))
	if err != nil {
		return err
	}
	if err := s.Anchors.Check("site: the state of a training", s.anchorOf(t), func(h anchor.Head) (bool, error) { // 3.5
		old, err := t.folder.readAnswer(int(h.Seq))
		return old != nil && string(old.Ask) == h.Hash, err
	}); err != nil {
		return err
	}
	for t.next = 1; ; t.next++ {
		old, err := t.folder.readAnswer(t.next)
		if err != nil {
			return err
		}
		if old == nil {
			break
		}
		if err := extend.Open(g).Forgo(old.Label, guard.Share{Epsilon: old.Epsilon, Rho: old.Rho}); err != nil {
			return err
		}
	}
	t.responder = &sites.Responder{Guard: g, Honest: t.about.Honest, Values: s.policy().Numbers}
	return nil
}

// end erases a training's keys and answers. Its price stays spent.
func (s *Server) end(ctx context.Context, body []byte) ([]byte, error) {
	t, err := s.find(ctx, sites.Digest(body))
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil, s.close(ctx, t, "the training ended")
}
