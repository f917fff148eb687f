// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Peer is a site in the list of its coordinator.
type Peer struct {
	Name, URL string
	Key       ed25519.PublicKey
}

// Coordinator trains over the rows of sites. It has no rows itself.
type Coordinator struct {
	Self   *identity.Identity // certificate of a combiner
	Peers  []Peer
	Honest int
	// MayLeave is how many sites may leave a training that has begun, without ending it.
	MayLeave int
	// Rows is the number of rows, or persons, of all sites together that a plan of a training reckons with.
	Rows int
	// State is the folder that remembers the training, so that a coordinator that was killed goes on
	// with it; it is empty before and after.
	State string
	Wait  time.Duration // how long a site may be absent
	Say   func(format string, args ...any)
	// Total may replace the sum over sites, in tests; nil: no replacement.
	Total func(label string, sums []mech.Whole) []mech.Whole

	clients         []*http.Client
	sent, received  atomic.Int64
	calls, measured atomic.Int64

	mu     sync.Mutex
	left   map[string]int // the measurements that a site answered before it left
	totals []total        // that are known, in a training that sites may leave
}

// total is a measurement's total, on disk before the next one is asked for: sites that leave later are in it, and cannot
// be asked again.
type total struct {
	Ask  sites.Digest   `json:"ask"`
	Sums []byte         `json:"sums"`
	Left map[string]int `json:"left"`
}

// Traffic is the network traffic of a training, over all sites.
type Traffic struct{ Sent, Received, Calls, Measurements int64 }

// Traffic returns the coordinator's traffic so far.
func (c *Coordinator) Traffic() Traffic {
	return Traffic{c.sent.Load(), c.received.Load(), c.calls.Load(), c.measured.Load()}
}

// Train runs a plan over the sites, ends the training at all sites, and passes the model to keep. An
// interrupted training continues when it is called again: from the sites' answers, or, if there is a
// model already, by passing that one to keep. If one site refuses the training, it ends at all sites.
func (c *Coordinator) Train(ctx context.Context, s *schema.Schema, pl learn.Plan,
	keep func(*model.Model) error) (m *model.Model, err error) {
	about, err := c.describe(s, pl.Terms(), nil)
	if err != nil {
		return nil, err
	}
	return across(ctx, c, about, s, pl, form[*model.Model]{func(m *model.Model) ([]byte, error) {
		m.Privacy.Unprotected = append(m.Privacy.Unprotected, c.Unprotected())
		m.Privacy.Statement += c.whoStayed()
		return model.Marshal(m)
	}, model.Unmarshal, keep})
}

// Unprotected states who is not protected by a result across sites.
func (c *Coordinator) Unprotected() string {
	also := fmt.Sprintf("anybody, if fewer than %d of the %d sites added their noise and kept it to themselves", c.Honest, len(c.Peers))
	if c.MayLeave > 0 {
		also = "the sums of each site, which the coordinator saw with the noise that protects one row"
	}
	return "a person with rows at k sites, who is protected at k times this epsilon and, if there is a delta, " +
		"1 + e^epsilon + ... + e^((k-1) epsilon) times it; and " + also
}

// whoStayed states which sites are in a model that sites may leave, and its noise.
func (c *Coordinator) whoStayed() string {
	if c.MayLeave == 0 {
		return ""
	}
	stayed, left := len(c.Peers)-len(c.left), ""
	for _, p := range c.Peers {
		if n, gone := c.left[p.Name]; gone {
			left += fmt.Sprintf("; %s left after %d", p.Name, n)
		}
	}
	return fmt.Sprintf(" %d of %d sites answered all %d measurements%s. Each added all noise that its rows need, so that the last total has "+
		"%.2f times the noise of one table.", stayed, len(c.Peers), c.measured.Load(), left, math.Sqrt(float64(stayed)))
}

// form is how a result is stored and kept.
type form[M any] struct {
	write func(M) ([]byte, error)
	read  func([]byte) (M, error)
	keep  func(M) error
}

// stored is a result in Coordinator.State: from then on the sites are not needed.
type stored struct {
	Training []byte `json:"training"`
	Result   []byte `json:"result"`
}

// across runs a plan over the rows of sites, whose schema is s, and keeps the result.
func across[M interface{ Stated() dp.Statement }](ctx context.Context, c *Coordinator, about *sites.Training, s *schema.Schema,
	pl guard.Plan[M], f form[M]) (m M, err error) {
	text, result, err := c.resume(about)
	if err != nil {
		return m, err
	}
	c.connect()
	id := sites.TrainingDigest(text)
	if result == nil {
		if result, err = measured(ctx, c, about, text, s, pl, f); err != nil {
			if ctx.Err() == nil && !errors.Is(err, errUnwritten) {
				c.end(ctx, id)
				err = errors.Join(err, folder(c.State).clear())
			}
			return m, err
		}
		all, err := json.Marshal(stored{text, result})
		if err == nil {
			err = folder(c.State).write(resultFile, all)
		}
		if err != nil { // the sites keep their answers: the same command goes on
			return m, err
		}
	}
	c.end(context.WithoutCancel(ctx), id)
	if m, err = f.read(result); err != nil {
		return m, err
	}
	if err := f.keep(m); err != nil {
		return m, fmt.Errorf("%w (the result is in %s: the same command keeps it)", err, c.State)
	}
	return m, folder(c.State).clear()
}

// measured returns the result of a training at the sites.
func measured[M interface{ Stated() dp.Statement }](ctx context.Context, c *Coordinator, about *sites.Training, text []byte,
	s *schema.Schema, pl guard.Plan[M], f form[M]) ([]byte, error) {
	id := sites.TrainingDigest(text)
	if err := c.readTotals(); err != nil {
		return nil, err
	}
	set, err := c.assemble(ctx, about, text, id)
	if err != nil {
		return nil, err
	}
	remote := sites.NewRemote(about, id, func(ask []byte, like guard.Answers) ([]mech.Whole, int, error) { return c.measure(ctx, ask, like) })
	m, err := guard.TrainAcross(ctx, pl, remote.Table(s, set.Units()), remote)
	if err != nil {
		return nil, err
	}
	return f.write(m)
}

// connect makes a client for each site.
func (c *Coordinator) connect() {
	c.left = map[string]int{}
	for _, p := range c.Peers {
		c.clients = append(c.clients, c.Self.HTTPClientOf(identity.Caller{Role: identity.Party, Name: p.Name}))
	}
}

// Check refuses a training that no site can take part in, before any site is asked.
func (c *Coordinator) Check(s *schema.Schema, pl learn.Plan) error {
	_, err := c.describe(s, pl.Terms(), nil)
	return err
}

// describe makes a new training, or evaluation, with the given terms.
func (c *Coordinator) describe(s *schema.Schema, terms guard.Terms, e *sites.Evaluation) (*sites.Training, error) {
	if err := checkSchema("site train", s); err != nil {
		return nil, err
	}
	if c.MayLeave > 0 && s.Relation == dp.ReplaceOne {
		return nil, dp.Refuse("site train", "may-leave", "must be 0 under replace-one, where the number of rows is that of all sites", c.MayLeave)
	}
	t := &sites.Training{Evaluation: e, Version: sites.Version, ID: hex.EncodeToString(randomBytes(16)), Coordinator: c.Self.Name,
		Scope: terms.Scope, Epsilon: terms.Price.Epsilon, Delta: terms.Price.Delta, Bill: terms.Bill, Honest: c.Honest, MayLeave: c.MayLeave}
	var err error
	if t.Schema, err = sites.SchemaDigest(s); err != nil {
		return nil, err
	}
	for _, p := range c.Peers {
		t.Sites = append(t.Sites, sites.Member{Name: p.Name, Key: p.Key})
	}
	return t, t.Check()
}

// resume returns the text of the interrupted training, with its result if there is one; or of the new one
// if none was interrupted.
func (c *Coordinator) resume(t *sites.Training) (text, result []byte, err error) {
	state := folder(c.State)
	old, err := state.read(trainingFile)
	if err != nil {
		return nil, nil, err
	}
	kept, err := state.read(resultFile)
	if err != nil {
		return nil, nil, err
	}
	if kept != nil {
		var all stored
		if err := sites.Decode(kept, &all); err != nil {
			return nil, nil, err
		}
		old, result = all.Training, all.Result
	}
	if old != nil {
		var before sites.Training
		if err := sites.Decode(old, &before); err != nil {
			return nil, nil, err
		}
		t.ID = before.ID
	}
	if text, err = json.Marshal(t); err != nil {
		return nil, nil, err
	}
	if old != nil {
		if !bytes.Equal(old, text) {
			return nil, nil, dp.Refuse("site train", "state", "must be of no other training that was interrupted", c.State)
		}
		c.Say("going on with the training that was interrupted")
		return text, result, nil
	}
	return text, nil, state.write(trainingFile, text)
}

// Interrupted reports whether State holds a training that was interrupted.
func (c *Coordinator) Interrupted() bool {
	return folder(c.State).has(trainingFile) || folder(c.State).has(resultFile)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// assemble lets all sites join, and then begin with the set of all.
func (c *Coordinator) assemble(ctx context.Context, t *sites.Training, text []byte, id sites.Digest) (*sites.Set, error) {
	state := folder(c.State)
	set, err := state.read(setFile)
	if err != nil {
		return nil, err
	}
	var all sites.Set
	if set == nil {
		answers, err := c.callAll(ctx, joinCall, text, nil)
		if err != nil {
			return nil, err
		}
		all = sites.Set{Training: id, Joined: make([]sites.Joined, len(answers))}
		for i, a := range answers {
			if err := sites.Decode(a, &all.Joined[i]); err != nil {
				return nil, fmt.Errorf("site %s: %w", c.Peers[i].Name, err)
			}
		}
		if err := all.Check(t, id); err != nil {
			return nil, err
		}
		if n := all.Units(); n > 0 && t.Evaluation == nil && n != c.Rows {
			return nil, dp.Refuse("site train", "declared-rows",
				fmt.Sprintf("must be %d, the sum of the sites' "+"public numbers", n), c.Rows)
		}
		if set, err = json.Marshal(all); err != nil {
			return nil, err
		}
		if err := state.write(setFile, set); err != nil {
			return nil, err
		}
	} else if err := sites.Decode(set, &all); err != nil {
		return nil, err
	}
	_, err = c.callAll(ctx, beginCall, set, nil)
	return &all, err
}

// errUnwritten is of a total that could not be stored: the sites keep their answers, and the same command goes on.
var errUnwritten = errors.New("site: a total could not be stored; the same command goes on")

// readTotals reads the totals of an interrupted training, and who had left it.
func (c *Coordinator) readTotals() error {
	for {
		text, err := folder(c.State).read(totalOf(len(c.totals) + 1))
		if text == nil || err != nil {
			return err
		}
		var t total
		if err := sites.Decode(text, &t); err != nil {
			return err
		}
		c.totals, c.left = append(c.totals, t), maps.Clone(t.Left)
	}
}

// measure adds up the sites' answers, and says how many there are.
func (c *Coordinator) measure(ctx context.Context, ask []byte, like guard.Answers) (sums []mech.Whole, from int, err error) {
	left := c.left
	if n := int(c.measured.Load()); n >= len(c.totals) {
		sums, err = c.askSites(ctx, ask, like)
	} else if t := &c.totals[n]; t.Ask == sites.AskDigest(ask) {
		left = t.Left
		sums, err = sites.AddUp(make([]mech.Whole, like.Numbers), t.Sums)
	} else {
		err = fmt.Errorf("site: measurement %d must be the one whose total is in %s", n+1, c.State)
	}
	if err != nil {
		return nil, 0, err
	}
	c.measured.Add(1)
	if c.Total != nil {
		var a sites.Ask
		if err := sites.Decode(ask, &a); err != nil {
			return nil, 0, err
		}
		sums = c.Total(a.Label, sums)
	}
	return sums, len(c.Peers) - len(left), nil
}

// askSites adds up the answers of the sites that have not left. If some may leave, no mask hides an answer, so that each one
// is looked at.
func (c *Coordinator) askSites(ctx context.Context, ask []byte, like guard.Answers) (sums []mech.Whole, err error) {
	answers, err := c.callAll(ctx, askCall, ask, func(answer []byte) error {
		one, err := sites.AddUp(make([]mech.Whole, like.Numbers), answer)
		if err == nil && c.MayLeave > 0 {
			err = like.Check(one)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sums = make([]mech.Whole, like.Numbers)
	for _, a := range answers {
		if a == nil { // its site has left
			continue
		}
		if sums, err = sites.AddUp(sums, a); err != nil {
			return nil, err
		}
	}
	if c.MayLeave == 0 {
		return sums, nil
	}
	text, err := json.Marshal(total{sites.AskDigest(ask), sites.Encode(sums), c.left})
	if err != nil {
		return nil, err
	}
	if err := folder(c.State).write(totalOf(int(c.measured.Load())+1), text); err != nil {
		return nil, errors.Join(errUnwritten, err)
	}
	return sums, nil
}

func (c *Coordinator) hasLeft(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, left := c.left[c.Peers[i].Name]
	return left
}

// letGo reports whether a training that has begun goes on without a site.
func (c *Coordinator) letGo(ctx context.Context, i int, path string, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil || path == joinCall || len(c.left) >= c.MayLeave {
		return false
	}
	c.left[c.Peers[i].Name] = max(int(c.measured.Load()), len(c.totals))
	c.Say("site %s has left, and the training goes on without it: %v", c.Peers[i].Name, err)
	return true
}

// end lets each site erase its keys, even if another site fails.
func (c *Coordinator) end(ctx context.Context, id sites.Digest) {
	ctx, cancel := context.WithTimeout(ctx, min(c.Wait, 10*time.Second))
	defer cancel()
	var all sync.WaitGroup
	for i := range c.Peers {
		all.Go(func() {
			_, err := c.callOne(ctx, i, endCall, []byte(id))
			if p := (*problem.Problem)(nil); err != nil && !(errors.As(err, &p) && p.Kind == problem.UnknownTask) { // it has none
				c.Say("site %s has not erased its keys of the training: %v", c.Peers[i].Name, err)
			}
		})
	}
	all.Wait()
}

// callAll calls all sites at once that have not left. It fails with the first one that refuses, stays absent, or gives an
// answer that check refuses, unless it may leave; its answer is then nil.
func (c *Coordinator) callAll(ctx context.Context, path string, body []byte, check func(answer []byte) error) ([][]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make([][]byte, len(c.Peers))
	var all sync.WaitGroup
	for i := range c.Peers {
		if c.hasLeft(i) {
			continue
		}
		all.Go(func() {
			answer, err := c.callOne(ctx, i, path, body)
			if err == nil && check != nil {
				err = check(answer)
			}
			if err == nil {
				answers[i] = answer
			} else if !c.letGo(ctx, i, path, err) {
				cancel(fmt.Errorf("site %s: %w", c.Peers[i].Name, err))
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answers, nil
}

const (
	firstPause, lastPause = 50 * time.Millisecond, 2 * time.Second
	maxAnswer             = 32 << 20
)

func (c *Coordinator) callOne(ctx context.Context, i int, path string, body []byte) (answer []byte, err error) {
	absent := fmt.Errorf("it did not answer for %s", c.Wait)
	ctx, stop := problem.Until(ctx, time.Now, time.Now().Add(c.Wait), absent)
	defer stop()
	told := false
	retry := problem.Retry{First: firstPause, Last: lastPause, Each: longest, Say: func(_ time.Duration, err error) {
		if !told {
			c.Say("waiting for site %s: %v", c.Peers[i].Name, err)
		}
		told = true
	}}
	passing := func(err error) bool {
		if p := (*problem.Problem)(nil); errors.As(err, &p) {
			return p.Kind.Again()
		}
		return !errors.As(err, new(*identity.MisfitError))
	}
	err = retry.Do(ctx, passing, func(ctx context.Context) (err error) {
		answer, err = c.post(ctx, i, path, body)
		return err
	})
	if err != nil {
		err = problem.Named(err)
	}
	return answer, err
}

func (c *Coordinator) post(ctx context.Context, i int, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Peers[i].URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "text/plain") // Connect answers for what begins with application/
	c.calls.Add(1)
	c.sent.Add(int64(len(body)))
	answer, err := c.clients[i].Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	c.received.Add(int64(len(text)))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		var p rpc.Problem
		var words struct{ Type, Title, Detail string }
		if json.Unmarshal(text, &words) != nil {
			return nil, fmt.Errorf("it answered HTTP %d", answer.StatusCode)
		}
		p.Type, p.Title, p.Detail = words.Type, words.Title, words.Detail
		return nil, problem.FromProto(&p)
	}
	return text, nil
}
