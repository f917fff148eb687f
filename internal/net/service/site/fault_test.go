// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// small is a world of three sites with a plan of a few measurements.
func small(t testing.TB) *world { return newWorld(t, schemaOf(t, 2, 0), rowsOf(60, 2, 0), 3) }

func (w *world) paid() (n int) {
	w.account.mu.Lock()
	defer w.account.mu.Unlock()
	for _, k := range w.account.charges {
		n += k
	}
	return n
}

// empty reports whether a site or a coordinator keeps nothing of any training.
func (w *world) empty(state string) bool {
	var left []string
	_ = filepath.WalkDir(state, func(path string, e os.DirEntry, _ error) error {
		if path != state && path != filepath.Join(state, "trainings") {
			left = append(left, path)
		}
		return nil
	})
	return len(left) == 0
}

// A site that is killed before or after each call, and a coordinator that is killed at any measurement,
// go on: a measurement has one total, every site pays once, and nothing is left behind.
func TestKillsOfSitesAndCoordinator(t *testing.T) {
	w := small(t)
	pl := planOf(t, w.schema, 0, 60)
	kills := 0
	for k := range 2 * 3 {
		site, after := k/2, k%2 == 1
		seen, before := atomic.Int64{}, w.paid()
		w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
			if i != site || seen.Add(1)%2 == 0 { // each call is made again
				h.ServeHTTP(to, r)
				return
			}
			if after {
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
			kills++
			w.restart(i)
			panic(http.ErrAbortHandler)
		})
		c := w.coordinator(2)
		if _, err := c.Train(t.Context(), w.schema, pl, kept); err != nil {
			t.Errorf("site %d killed at each call (after: %v): %v", site, after, err)
		}
		if n := w.paid() - before; n != 3 {
			t.Errorf("site %d killed at each call (after: %v): %d sites paid", site, after, n)
		}
	}
	w.observe(nil)
	for at := range pl.Terms().Bill {
		before := w.paid()
		c := w.coordinator(2)
		ctx, cancel := context.WithCancel(t.Context())
		var totals [2][][]mech.Whole
		c.Total = func(_ string, sums []mech.Whole) []mech.Whole {
			if totals[0] = append(totals[0], sums); len(totals[0]) == at+1 {
				cancel()
			}
			return sums
		}
		if _, err := c.Train(ctx, w.schema, pl, kept); err == nil && at < len(pl.Terms().Bill)-1 {
			t.Fatal("the coordinator was not killed")
		} else if err == nil {
			continue
		}
		kills++
		for i := range w.params { // the sites with it
			kills++
			w.restart(i)
		}
		again := w.coordinator(2)
		again.State = c.State
		again.Total = func(_ string, sums []mech.Whole) []mech.Whole {
			totals[1] = append(totals[1], sums)
			return sums
		}
		_, err := again.Train(t.Context(), w.schema, pl, kept)
		must(t, err)
		for k := range totals[0] {
			if !slices.Equal(totals[0][k], totals[1][k]) {
				t.Errorf("killed at measurement %d: measurement %d has two totals", at, k)
			}
		}
		if n := w.paid() - before; n != 3 || !w.empty(c.State) {
			t.Errorf("killed at measurement %d: %d sites paid", at, n)
		}
	}
	if t.Logf("%d kills", kills); kills < 60 {
		t.Errorf("only %d kills", kills)
	}
	for i := range w.params {
		if !w.empty(w.params[i].State) {
			t.Errorf("site %d keeps keys or answers of trainings that have ended", i)
		}
	}
}

// begin lets a coordinator begin a training, and returns its digest.
func begin(t testing.TB, w *world, c *Coordinator, delta dp.Delta) sites.Digest {
	t.Helper()
	c.connect()
	about, err := c.describe(w.schema, planOf(t, w.schema, delta, 60).Terms(), nil)
	must(t, err)
	text, _, err := c.resume(about)
	must(t, err)
	id := sites.TrainingDigest(text)
	_, err = c.assemble(t.Context(), about, text, id)
	must(t, err)
	return id
}

// asksOf are the measurements of an honest training.
func asksOf(t testing.TB, w *world) (asks [][]byte) {
	t.Helper()
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		if i == 0 && r.URL.Path == askCall {
			body, err := io.ReadAll(r.Body)
			must(t, err)
			asks = append(asks, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		h.ServeHTTP(to, r)
	})
	c := w.coordinator(2)
	_, err := c.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	w.observe(nil)
	return asks
}

// of is an ask of another training, changed.
func of(t testing.TB, ask []byte, id sites.Digest, change func(a *sites.Ask)) []byte {
	t.Helper()
	var a sites.Ask
	must(t, sites.Decode(ask, &a))
	a.Training = id
	change(&a)
	text, err := json.Marshal(a)
	must(t, err)
	return text
}

func same(*sites.Ask) {}

func kindOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.Of(err).Kind.String()
}

// What would open a difference is refused: other rows, another text under a number, another set.
func TestFaultsThatWouldOpenADifference(t *testing.T) {
	w := small(t)
	asks := asksOf(t, w)
	c := w.coordinator(2)
	id := begin(t, w, c, 0)
	send := func(path string, body []byte) ([]byte, error) { return c.post(t.Context(), 0, path, body) }
	first, err := send(askCall, of(t, asks[0], id, same))
	must(t, err)
	w.restart(0)
	again, err := send(askCall, of(t, asks[0], id, same))
	must(t, err)
	if !bytes.Equal(first, again) {
		t.Error("a repeated measurement has another answer")
	}
	for what, text := range map[string][]byte{
		"another text under the number":  of(t, asks[0], id, func(a *sites.Ask) { a.Label += " " }),
		"a number ahead":                 of(t, asks[1], id, func(a *sites.Ask) { a.Number = 3 }),
		"a number below":                 of(t, asks[1], id, func(a *sites.Ask) { a.Number = 0 }),
		"the first once more, as second": of(t, asks[0], id, func(a *sites.Ask) { a.Number, a.Epsilon = 2, 4*dp.Nano }),
	} {
		if _, err := send(askCall, text); kindOf(err) != "not-allowed" {
			t.Errorf("%s: %v", what, err)
		}
	}
	set, err := folder(c.State).read(setFile)
	must(t, err)
	if _, err := send(beginCall, append(set, ' ')); kindOf(err) != "malformed" {
		t.Errorf("a set in another spelling: %v", err)
	}
	if _, err := send(beginCall, bytes.Replace(set, []byte(`"units":0`), []byte(`"units":1`), 1)); kindOf(err) != "not-allowed" {
		t.Errorf("another set: %v", err)
	}
	w.params[0].Rows = "others"
	w.restart(0)
	for _, ask := range asks[:2] {
		if _, err := send(askCall, of(t, ask, id, same)); kindOf(err) != "not-allowed" {
			t.Errorf("a measurement of rows that have changed: %v", err)
		}
	}
	c.end(t.Context(), id)
	if _, err := send(askCall, of(t, asks[0], id, same)); kindOf(err) != "unknown-task" {
		t.Errorf("a measurement after the end: %v", err)
	}
	if w.paid() != 6 {
		t.Errorf("%d sites paid for two trainings", w.paid())
	}
}

// joined lets all sites join a training, and returns their set.
func joined(t testing.TB, w *world, c *Coordinator) []byte {
	t.Helper()
	c.connect()
	about, err := c.describe(w.schema, planOf(t, w.schema, 0, 60).Terms(), nil)
	must(t, err)
	text, _, err := c.resume(about)
	must(t, err)
	answers, err := c.callAll(t.Context(), joinCall, text, nil)
	must(t, err)
	set := sites.Set{Training: sites.TrainingDigest(text), Joined: make([]sites.Joined, 3)}
	for i := range answers {
		must(t, json.Unmarshal(answers[i], &set.Joined[i]))
	}
	body, err := json.Marshal(set)
	must(t, err)
	return body
}

// A training is its coordinator's, whoever else the policy names. It has the measurements of the policy that is in
// force, and does not begin under one that has changed since sites joined. Once it has ended, no key is drawn for it.
func TestTrainingsKeepToTheirCoordinatorAndPolicy(t *testing.T) {
	w := small(t)
	asks := asksOf(t, w)
	w.allow(0, func(p *Policy) { p.Coordinators = append(p.Coordinators, "other") })
	c, other := w.coordinator(2), w.coordinator(2)
	other.Self = w.identity(identity.Combiner, "other")
	other.connect()
	id := begin(t, w, c, 0)
	text, err := folder(c.State).read(trainingFile)
	must(t, err)
	set, err := folder(c.State).read(setFile)
	must(t, err)
	for call, body := range map[string][]byte{beginCall: set, askCall: of(t, asks[0], id, same), endCall: []byte(id)} {
		if _, err := other.post(t.Context(), 0, call, body); kindOf(err) != "unknown-task" {
			t.Errorf("another coordinator calls %s: %v", call, err)
		}
	}
	w.allow(0, func(p *Policy) { p.Measurements = 1 })
	_, err = c.post(t.Context(), 0, askCall, of(t, asks[0], id, same))
	must(t, err)
	if _, err := c.post(t.Context(), 0, askCall, of(t, asks[1], id, same)); kindOf(err) != "not-allowed" {
		t.Errorf("a second measurement where the policy allows one: %v", err)
	}
	c.end(t.Context(), id)
	w.allow(0, func(p *Policy) { p.Measurements = 300 })
	if !w.empty(w.params[0].State) {
		t.Error("the site keeps something of a training that has ended")
	}
	again, err := c.post(t.Context(), 0, joinCall, text) // late: it has other keys, and is not charged again
	must(t, err)
	var all sites.Set
	must(t, sites.Decode(set, &all))
	must(t, sites.Decode(again, &all.Joined[0]))
	set, err = json.Marshal(all)
	must(t, err)
	if _, err := c.post(t.Context(), 0, beginCall, set); err == nil {
		t.Error("a training that has ended begins again")
	}
	c.end(t.Context(), id)
	late := w.coordinator(2)
	body := joined(t, w, late)
	before := w.paid()
	w.allow(0, func(p *Policy) { p.Training = policy.Limit{Epsilon: "1", Delta: "0"} })
	if _, err := late.post(t.Context(), 0, beginCall, body); kindOf(err) != "not-allowed" || w.paid() != before {
		t.Errorf("a training at more than the new policy allows: %v, and %d sites paid", err, w.paid()-before)
	}
}

// What a kill leaves of a training that had ended is gone when the site starts again.
func TestEndedTrainingsAreSwept(t *testing.T) {
	w := small(t)
	c := w.coordinator(2)
	id := begin(t, w, c, 0)
	at := folder(filepath.Join(w.params[0].State, "trainings", string(id)))
	must(t, at.write(endedFile, nil)) // and killed
	w.restart(0)
	if !w.empty(w.params[0].State) {
		t.Error("the site keeps keys of a training that has ended")
	}
}

// A model that cannot be kept is made again from the answers that the sites have.
func TestModelIsKeptBeforeTheEnd(t *testing.T) {
	w := small(t)
	c := w.coordinator(2)
	var first []byte
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Train(ctx, w.schema, planOf(t, w.schema, 0, 60), func(m *model.Model) error {
		first = bytesOf(t, m)
		cancel() // as a kill does
		return errors.New("killed")
	})
	if err == nil {
		t.Fatal("the coordinator was not killed")
	}
	again := w.coordinator(2)
	again.State = c.State
	m, err := again.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	if !bytes.Equal(bytesOf(t, m), first) {
		t.Error("the model is another one")
	}
}

// A link that loses calls on the way there, or answers on the way back, or brings answers byte by byte,
// delays a training. A site whose clock moves goes on with what has begun, or ends it. In any case
// every site pays at most once.
func TestFaultsOfLinksAndClocks(t *testing.T) {
	w := small(t)
	_, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	var skew, seen atomic.Int64
	w.params[1].Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
	w.restart(1)
	lose := func(after bool) func(h http.Handler, to http.ResponseWriter, r *http.Request) {
		return func(h http.Handler, to http.ResponseWriter, r *http.Request) {
			if seen.Add(1)%4 == 0 { // after three in a row the link is there again
				h.ServeHTTP(to, r)
				return
			}
			if after {
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
			panic(http.ErrAbortHandler)
		}
	}
	move := func(by time.Duration) func(h http.Handler, to http.ResponseWriter, r *http.Request) {
		return func(h http.Handler, to http.ResponseWriter, r *http.Request) {
			if r.URL.Path == askCall && seen.Add(1) == 2 {
				skew.Store(int64(by))
			}
			h.ServeHTTP(to, r)
		}
	}
	for what, fault := range map[string]func(h http.Handler, to http.ResponseWriter, r *http.Request){
		"lost calls": lose(false), "lost answers": lose(true),
		"a slow link": func(h http.Handler, to http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			to.WriteHeader(answer.Code)
			for _, b := range answer.Body.Bytes()[:min(200, answer.Body.Len())] {
				_, _ = to.Write([]byte{b})
				to.(http.Flusher).Flush()
			}
			_, _ = to.Write(answer.Body.Bytes()[min(200, answer.Body.Len()):])
		},
		"a clock that goes back": move(-3 * time.Hour), "a clock that goes ahead": move(30 * time.Minute),
		"a clock beyond the policy": move(2 * time.Hour),
	} {
		seen.Store(0)
		skew.Store(0)
		before := w.paid()
		w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
			if i == 1 {
				fault(h, to, r)
			} else {
				h.ServeHTTP(to, r)
			}
		})
		if _, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if n := w.paid() - before; n != 3 {
			t.Errorf("%s: %d sites of 3 paid", what, n)
		}
	}
	w.observe(nil)
	for i := range w.params {
		if !w.empty(w.params[i].State) {
			t.Errorf("site %d keeps keys or answers", i)
		}
	}
	skew.Store(int64(2 * time.Hour))
	before := w.paid()
	if _, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept); kindOf(err) != "not-allowed" ||
		w.paid() != before {
		t.Errorf("a training that begins after the policy: %v", err)
	}
	skew.Store(0)
	_, err = w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	for i := range w.params {
		if !w.empty(w.params[i].State) {
			t.Errorf("site %d keeps keys of a training that was refused", i)
		}
	}
}

// A site that does not answer ends the training at the others, which erase their keys.
func TestAbsentSiteEndsTheTraining(t *testing.T) {
	w := small(t)
	c := w.coordinator(2)
	c.Wait = 300 * time.Millisecond
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		if i == 2 && r.URL.Path == askCall {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(to, r)
	})
	_, err := c.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	if err == nil || !strings.Contains(err.Error(), "site2") {
		t.Errorf("the training ends with %v", err)
	}
	for i := range w.params {
		if !w.empty(w.params[i].State) {
			t.Errorf("site %d keeps keys or answers", i)
		}
	}
}

// Policies refuse what they do not allow, before anything is kept or paid.
func TestPolicyRefuses(t *testing.T) {
	w := small(t)
	c := w.coordinator(2)
	begin(t, w, c, 0)
	text, err := folder(c.State).read(trainingFile)
	must(t, err)
	before := w.paid()
	w.allow(0, func(p *Policy) { p.Honest = 2 })
	for what, change := range map[string]func(a *sites.Training){
		"another coordinator":             func(a *sites.Training) { a.Coordinator = "else" },
		"another schema":                  func(a *sites.Training) { a.Schema = sites.TrainingDigest(nil) },
		"a higher epsilon":                func(a *sites.Training) { a.Epsilon = 5 * dp.Nano },
		"a higher delta":                  func(a *sites.Training) { a.Delta = 2e12 },
		"too few sites":                   func(a *sites.Training) { a.Sites = a.Sites[:1] },
		"without the site":                func(a *sites.Training) { a.Sites = a.Sites[1:] },
		"more honest sites than are left": func(a *sites.Training) { a.Sites, a.Honest = a.Sites[:2], 2 },
		"another key":                     func(a *sites.Training) { a.Sites[1].Key = bytes.Repeat([]byte{1}, 32) },
		"a stranger":                      func(a *sites.Training) { a.Sites[1].Name = "stranger" },
		"public columns":                  func(a *sites.Training) { a.Scope = dp.PrivateFeatures },
		"many measurements":               func(a *sites.Training) { a.Bill = make([]dp.Event, 301) },
	} {
		var a sites.Training
		must(t, sites.Decode(text, &a))
		change(&a)
		body, err := json.Marshal(a)
		must(t, err)
		_, err = c.post(t.Context(), 0, joinCall, body)
		clause := err != nil && strings.Contains(err.Error(), `: "site0's policy, `)
		if kindOf(err) != "malformed" && (kindOf(err) != "not-allowed" || !clause || strings.ContainsAny(err.Error(), "2345")) {
			t.Errorf("a training with %s: %v", what, err)
		}
		w.allow(0, func(p *Policy) { p.Figures = true })
		_, err = c.post(t.Context(), 0, joinCall, body)
		if want := `"site0's policy, training: at most epsilon = 4, delta = 0.001, this asks epsilon = 5"`; what == "a higher epsilon" &&
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("a coordinator that may know figures is told %v, want %s", err, want)
		}
		w.allow(0, func(p *Policy) { p.Figures = false })
	}
	w.allow(0, func(p *Policy) { p.End = time.Now().Add(-time.Hour) })
	if _, err := c.post(t.Context(), 0, joinCall, text); kindOf(err) != "not-allowed" {
		t.Errorf("a training after the policy's last day: %v", err)
	}
	if w.paid() != before {
		t.Error("a refused training was paid for")
	}
	stranger := &Coordinator{Self: w.identity(identity.Combiner, "else"), Peers: w.peers, Say: func(string, ...any) {}}
	stranger.clients = []*http.Client{stranger.Self.HTTPClientOf(identity.Caller{Role: identity.Party, Name: "site0"})}
	for _, call := range []string{joinCall, beginCall, askCall, endCall, evaluateCall} {
		if _, err := stranger.post(t.Context(), 0, call, text); kindOf(err) != "forbidden" {
			t.Errorf("%s of a stranger: %v", call, err)
		}
	}
}

// A coordinator that sends anything is answered within what was charged, and never twice for a number.
// DISCREET_SEARCH_SECONDS and DISCREET_SEARCH_SEED search longer, elsewhere.
func TestHostileCoordinator(t *testing.T) {
	w := small(t)
	for i := range w.policies { // longer than any search
		w.allow(i, func(p *Policy) { p.End = p.End.Add(10 * time.Hour) })
	}
	asks := asksOf(t, w)
	seed, _ := strconv.ParseUint(os.Getenv("DISCREET_SEARCH_SEED"), 10, 64)
	seconds, _ := strconv.Atoi(os.Getenv("DISCREET_SEARCH_SECONDS"))
	r, until := rand.New(rand.NewPCG(3, 4+seed)), time.Now().Add(time.Duration(seconds)*time.Second)
	answered, sent, told := 0, 0, time.Now()
	for trial := 0; trial < 6 || time.Now().Before(until); trial++ {
		if time.Since(told) > time.Minute {
			t.Logf("%d of %d measurements were answered", answered, sent)
			told = time.Now()
		}
		c := w.coordinator(1 + r.IntN(3))
		id := begin(t, w, c, 0)
		bill := planOf(t, w.schema, 0, 60).Terms()
		spent, given := dp.Epsilon(0), map[int][]byte{}
		for range 150 {
			body := of(t, asks[r.IntN(len(asks))], id, func(a *sites.Ask) {
				a.Number = 1 + r.IntN(len(given)+2)
				switch r.IntN(8) {
				case 0:
					a.Epsilon = dp.Epsilon(r.Int64N(int64(dp.Nano)))
				case 1:
					a.Rho, a.Epsilon = dp.Rho(r.Int64N(1e9)), 0
				case 2:
					a.Label = "anything"
				case 3:
					a.Forms[0].Part = r.IntN(40) - 2
				case 4:
					a.Forms = append(a.Forms, a.Forms...)
				case 5:
					a.Epsilon = -a.Epsilon
				}
			})
			if r.IntN(4) == 0 {
				body[r.IntN(len(body))] = byte(r.IntN(256))
			}
			answer, err := c.post(t.Context(), 0, askCall, body)
			sent++
			if err != nil {
				if kind := kindOf(err); !slices.Contains([]string{"not-allowed", "malformed", "unknown-task", "too-many"}, kind) {
					t.Errorf("a measurement fails: %v (%s)", err, body)
				}
				continue
			}
			var a sites.Ask
			must(t, sites.Decode(body, &a))
			if old := given[a.Number]; old != nil {
				if !bytes.Equal(old, body) {
					t.Errorf("number %d is answered twice", a.Number)
				}
				continue
			}
			answered++
			given[a.Number] = body
			if spent += a.Epsilon; a.Epsilon < 1 || a.Rho != 0 || spent > bill.Price.Epsilon || len(answer) > 16*10000 {
				t.Errorf("%d numbers are answered at epsilon %s, of %s", len(answer)/16, spent, bill.Price.Epsilon)
			}
			if r.IntN(10) == 0 {
				w.restart(0) // what is left survives
			}
		}
		c.end(t.Context(), id)
	}
	if t.Logf("%d of %d measurements were answered", answered, sent); answered < 20 {
		t.Errorf("only %d measurements were answered", answered)
	}
}

// A site answers at the hours and with the program that its policy has. A training waits for the hour,
// and ends at any.
func TestPolicyOfHoursAndPrograms(t *testing.T) {
	w := small(t)
	day := time.Date(2999, 1, 2, 0, 0, 0, 0, time.UTC)
	for hours, open := range map[string][]int{"": {0, 12, 23}, "07:00-19:00": {7, 12, 18}, "22:00-06:00": {22, 23, 0, 5}} {
		p := *w.policies[0]
		p.Hours, p.Programs = hours, []string{"v1"}
		read, err := parsePolicy([]byte(p.Draft()))
		must(t, err)
		if !slices.Equal(read.Programs, p.Programs) || read.Hours != hours {
			t.Errorf("the draft of hours %q is of %q and programs %q", hours, read.Hours, read.Programs)
		}
		for _, h := range open {
			must(t, read.checkHours(day.Add(time.Duration(h)*time.Hour)))
		}
		for _, h := range map[string][]int{"07:00-19:00": {6, 19, 23}, "22:00-06:00": {6, 12, 21}}[hours] {
			if kindOf(read.checkHours(day.Add(time.Duration(h)*time.Hour))) != "overloaded" {
				t.Errorf("with hours %s a call is answered at %d:00", hours, h)
			}
		}
	}
	for _, hours := range []string{"7-19", "07:00", "24:00-25:00", "07:00-07:00"} {
		if _, err := parsePolicy([]byte(w.policies[0].Draft() + "hours: \"" + hours + "\"\n")); err == nil {
			t.Errorf("hours %s are taken", hours)
		}
	}
	var shut atomic.Bool
	w.params[1].Now = func() time.Time {
		if shut.Load() {
			return time.Now().Add(3 * time.Hour)
		}
		return time.Now()
	}
	at := time.Now().UTC()
	since := at.Sub(at.Truncate(24 * time.Hour))
	w.allow(1, func(p *Policy) {
		p.Hours, p.from, p.to = "these", (since+23*time.Hour)%(24*time.Hour), (since+time.Hour)%(24*time.Hour)
		p.End = at.Add(48 * time.Hour)
	})
	calls := atomic.Int64{}
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		if i == 1 {
			shut.Store(calls.Add(1)%3 == 0 || r.URL.Path == endCall)
		}
		h.ServeHTTP(to, r)
	})
	_, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	if !w.empty(w.params[1].State) || w.paid() != 3 {
		t.Errorf("a training over two evenings leaves keys, or %d sites paid", w.paid())
	}
	w.params[0].Program = "v2"
	for version, taken := range map[string]bool{"v1": false, "v2": true} {
		p := *w.policies[0]
		p.Programs = []string{version}
		w.params[0].Policy = &p
		if _, err := New(w.params[0]); (err == nil) != taken {
			t.Errorf("a policy for program %s: %v", version, err)
		}
	}
}

// What an officer signs again holds at once: a coordinator who is left out is refused, a site's new key
// signs, and a policy that does not fit changes nothing.
func TestPolicyIsReplaced(t *testing.T) {
	w := small(t)
	c := w.coordinator(2)
	id := begin(t, w, c, 0)
	w.mu.Lock()
	server := w.running[0]
	w.mu.Unlock()
	other := *w.policies[0]
	other.Data = "others"
	for what, p := range map[string]*Policy{"of other rows": &other, "with another key": {Clauses: w.policies[1].Clauses, Site: "site0",
		Schema: other.Schema, Sites: w.policies[1].Sites}} {
		key := w.params[0].Key
		if what == "with another key" {
			key = w.params[1].Key
		}
		if server.Replace(p, key) == nil {
			t.Errorf("a policy %s is taken", what)
		}
	}
	public, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	rotated := *w.policies[0]
	rotated.Sites = maps.Clone(rotated.Sites)
	rotated.Sites["site0"] = hex.EncodeToString(public)
	must(t, server.Replace(&rotated, key))
	again := w.coordinator(2)
	again.Peers = slices.Clone(again.Peers)
	if _, err := again.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept); kindOf(err) != "not-allowed" {
		t.Errorf("the key that was replaced still signs: %v", err)
	}
	again.Peers[0].Key = public
	for i := 1; i < 3; i++ { // the other sites' officers, too
		w.allow(i, func(p *Policy) { p.Sites = rotated.Sites })
	}
	_, err = again.Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	revoked := rotated
	revoked.Coordinators = []string{"else"}
	must(t, server.Replace(&revoked, key))
	if _, err := c.post(t.Context(), 0, askCall, ask(t, id)); kindOf(err) != "forbidden" {
		t.Errorf("a coordinator who was left out: %v", err)
	}
}

// A site whose disk is full answers nothing that it cannot keep, is not ready, and goes on once there is
// room: one total a measurement, one payment.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("disks of one's own need root")
	}
	w := small(t)
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("no disks of our own here: %v %s", err, out)
	}
	defer exec.Command("umount", disk).Run()
	w.params[0].State = disk
	w.restart(0)
	w.mu.Lock()
	page := w.running[0].Page()
	w.mu.Unlock()
	ready := func() int {
		to := httptest.NewRecorder()
		page.ServeHTTP(to, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return to.Code
	}
	filler, asked, refused := filepath.Join(disk, "filler"), 0, 0
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		if i == 0 && r.URL.Path == askCall {
			switch asked++; asked {
			case 2:
				must(t, os.WriteFile(filler, make([]byte, 15<<18), 0o600))
				if ready() != http.StatusServiceUnavailable {
					t.Error("a site whose disk is full is ready")
				}
				seen := httptest.NewRecorder()
				h.ServeHTTP(seen, r)
				refused = seen.Code
				panic(http.ErrAbortHandler)
			case 3:
				must(t, os.Remove(filler))
			}
		}
		h.ServeHTTP(to, r)
	})
	_, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	if refused != http.StatusInsufficientStorage || ready() != http.StatusOK || w.paid() != 3 {
		t.Errorf("a full disk answers %d; then it is ready: %d; %d sites paid", refused, ready(), w.paid())
	}
}

// A state from a copy that does not hold an answer which was given answers nothing new: the same number
// with other noise would open the rows. What it holds it gives again.
func TestStateFromACopy(t *testing.T) {
	w := small(t)
	asks := asksOf(t, w)
	c := w.coordinator(2)
	id := begin(t, w, c, 0)
	send := func(n int) ([]byte, error) { return c.post(t.Context(), 0, askCall, of(t, asks[n], id, same)) }
	first, err := send(0)
	must(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(copied, os.DirFS(w.params[0].State)))
	_, err = send(1)
	must(t, err)
	w.params[0].State = copied
	w.restart(0)
	if _, err := send(1); err == nil {
		t.Error("a state from a copy answers a number a second time")
	}
	again, err := send(0)
	must(t, err)
	if !bytes.Equal(first, again) {
		t.Error("a state from a copy gives another answer")
	}
}

// Of two processes on one state one answers a number.
func TestTwoProcessesOnOneState(t *testing.T) {
	w := small(t)
	asks := asksOf(t, w)
	c := w.coordinator(2)
	id := begin(t, w, c, 0)
	w.mu.Lock()
	began := w.handlers[0]
	w.mu.Unlock()
	w.restart(0)
	first := of(t, asks[0], id, same)
	answer, err := c.post(t.Context(), 0, askCall, first)
	must(t, err)
	w.mu.Lock()
	w.handlers[0] = began
	w.mu.Unlock()
	if _, err := c.post(t.Context(), 0, askCall, of(t, asks[0], id, func(a *sites.Ask) { a.Epsilon-- })); err == nil {
		t.Error("a second process answers a number again")
	}
	again, err := c.post(t.Context(), 0, askCall, first)
	must(t, err)
	if !bytes.Equal(answer, again) {
		t.Error("a second process gives another answer")
	}
}
