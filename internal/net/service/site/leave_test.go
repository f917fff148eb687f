// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// leaving is a world of three sites, two of which are honest and one of which may leave.
func leaving(t testing.TB) *world {
	w := small(t)
	for i := range w.policies {
		w.allow(i, func(p *Policy) { p.Honest, p.OwnNumbers, p.MayLeave = 2, true, 1 })
	}
	return w
}

// patient is a coordinator whose sites may leave.
func (w *world) patient() *Coordinator {
	c := w.coordinator(1)
	c.MayLeave = 1
	return c
}

// point is where site 2 is gone for good: before or after a call acts, and of measurements the n-th. A coordinator then waits in vain,
// or is told at once that the site has no such training.
type point struct {
	call          string
	n             int
	after, silent bool
}

func (p point) String() string {
	return fmt.Sprintf("%s %d, after: %v", p.call[len(askCall)-4:], p.n, p.after)
}

// record keeps what each site answers to each measurement, and lets site 2 go at a point.
func (w *world) record(gone point) (answers map[int]map[int][]byte) {
	answers = map[int]map[int][]byte{}
	var mu sync.Mutex
	left := false
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		if i == 2 {
			body, err := io.ReadAll(r.Body)
			must(w.t, err)
			r.Body = io.NopCloser(bytes.NewReader(body))
			mu.Lock()
			now := r.URL.Path == gone.call && (gone.n == 1 || bytes.Contains(body, fmt.Appendf(nil, `"number":%d,`, gone.n)))
			act := !left && (!now || gone.after)
			left = left || now
			stop := left
			mu.Unlock()
			if act {
				h.ServeHTTP(answer, r)
			}
			if stop && gone.silent {
				panic(http.ErrAbortHandler)
			}
			if stop {
				problem.New(problem.UnknownTask, "").Write(to)
				return
			}
		} else {
			h.ServeHTTP(answer, r)
		}
		if r.URL.Path == askCall {
			mu.Lock()
			if answers[i] == nil {
				answers[i] = map[int][]byte{}
			}
			answers[i][len(answers[i])] = answer.Body.Bytes()
			mu.Unlock()
		}
		to.WriteHeader(answer.Code)
		_, _ = to.Write(answer.Body.Bytes())
	})
	return answers
}

// comeBack lets site 2 end the training that it left, and serve others.
func (w *world) comeBack() {
	open, err := ListOpen(w.params[2].State)
	must(w.t, err)
	for _, o := range open {
		must(w.t, EndOpen(w.params[2].State, o.ID))
	}
	w.restart(2)
}

// Wherever a site is gone for good, a training that it may leave ends with a model of what the sites answered, number by
// number, and each site pays once; before a site is charged, the training ends and nobody pays.
func TestSiteLeavesAtEachPoint(t *testing.T) {
	w := leaving(t)
	pl := planOf(t, w.schema, 0, 60)
	last := len(pl.Terms().Bill)
	points := []point{{joinCall, 1, false, false}, {beginCall, 1, false, false}, {askCall, 2, true, true}, {askCall, last, false, false}}
	if size.Of(0, 1) == 1 {
		points = append(points, point{joinCall, 1, true, true}, point{beginCall, 1, true, false}, point{endCall, 1, false, false},
			point{endCall, 1, true, false}, point{beginCall, 1, false, true})
		for n := range last {
			points = append(points, point{askCall, n + 1, false, false}, point{askCall, n + 1, true, false})
		}
	}
	for _, gone := range points {
		before := w.paid()
		answers := w.record(gone)
		c := w.patient()
		if gone.silent {
			c.Wait = 5 * time.Second
		}
		var totals [][]mech.Whole
		c.Total = func(_ string, sums []mech.Whole) []mech.Whole {
			totals = append(totals, slices.Clone(sums))
			return sums
		}
		m, err := c.Train(t.Context(), w.schema, pl, kept)
		w.observe(nil)
		want := 3
		switch {
		case gone.call == joinCall:
			if err == nil || !strings.Contains(err.Error(), "site2") {
				t.Errorf("gone at %s: the training ends with %v", gone, err)
			}
			want = 0
		case err != nil:
			t.Errorf("gone at %s: %v", gone, err)
			continue
		default:
			if gone.call == beginCall && !gone.after {
				want = 2
			}
			had := map[string]int{beginCall: 0, askCall: gone.n - 1, endCall: last}[gone.call]
			stayed, words := 2, fmt.Sprintf("2 of 3 sites answered all %d measurements; site2 left after %d.", last, had)
			if gone.call == endCall {
				stayed, words = 3, fmt.Sprintf("3 of 3 sites answered all %d measurements.", last)
			}
			noise := fmt.Sprintf("the last total has %.2f times the noise of one table", []float64{2: 1.41, 3: 1.73}[stayed])
			if s := m.Privacy.Statement; !strings.Contains(s, words) || !strings.Contains(s, noise) {
				t.Errorf("gone at %s: the statement is %q, want %q and %q", gone, s, words, noise)
			}
			for k := range totals {
				var sums []mech.Whole
				for i := range 3 {
					if i == 2 && k >= had {
						continue
					}
					sums, err = sites.AddUp(sums, answers[i][k])
					must(t, err)
				}
				if !slices.Equal(sums, totals[k]) {
					t.Errorf("gone at %s: measurement %d is not the sum of the sites that answered it", gone, k+1)
				}
			}
			if len(totals) != last {
				t.Errorf("gone at %s: %d measurements of %d", gone, len(totals), last)
			}
		}
		if n := w.paid() - before; n != want {
			t.Errorf("gone at %s: %d sites paid, want %d", gone, n, want)
		}
		for i, state := range []string{w.params[0].State, w.params[1].State, c.State} {
			if !w.empty(state) {
				t.Errorf("gone at %s: site %d, or the coordinator, keeps something", gone, i)
			}
		}
		w.comeBack()
	}
}

// More sites than may leave end the training.
func TestNoMoreSitesLeaveThanMay(t *testing.T) {
	w := leaving(t)
	w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
		if i > 0 && r.URL.Path == askCall {
			problem.New(problem.UnknownTask, "").Write(to)
			return
		}
		h.ServeHTTP(to, r)
	})
	_, err := w.patient().Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	if err == nil || !strings.Contains(err.Error(), "site site") {
		t.Errorf("the training ends with %v", err)
	}
	for i := range w.params {
		if !w.empty(w.params[i].State) {
			t.Errorf("site %d keeps something", i)
		}
	}
}

// A coordinator that is killed at any write, after a site has left for good, goes on without it: totals that have its answers
// keep them, no measurement has two totals, and the model is the same.
func TestCoordinatorIsKilledAfterASiteLeft(t *testing.T) {
	w := leaving(t)
	pl := planOf(t, w.schema, 0, 60)
	for step := size.Of(5, 1); ; step++ {
		if step == size.Of(7, 0) { // its last total and its result
			step = 4 + len(pl.Terms().Bill)
		}
		before := w.paid()
		w.record(point{askCall, 3, true, false})
		c := w.patient()
		ctx, cancel := context.WithCancel(t.Context())
		k := kill(t, c.State, step, cancel)
		totals := map[string][]mech.Whole{}
		same := func(label string, sums []mech.Whole) []mech.Whole {
			if old := totals[label]; old != nil && !slices.Equal(old, sums) {
				t.Errorf("killed at %s: %s has two totals", k.at, label)
			}
			totals[label] = slices.Clone(sums)
			return sums
		}
		var first []byte
		keep := func(m *model.Model) error {
			text, err := model.Marshal(m)
			if first != nil && !bytes.Equal(first, text) {
				t.Errorf("killed at %s: the model is another one", k.at)
			}
			first = text
			return err
		}
		c.Total = same
		_, err := c.Train(ctx, w.schema, pl, keep)
		cancel()
		dead := k.revive()
		if !dead {
			must(t, err)
		} else {
			again := w.patient()
			again.State, again.Total = c.State, same
			m, err := again.Train(t.Context(), w.schema, pl, keep)
			if err != nil {
				t.Errorf("killed at %s: %v", k.at, err)
			} else if !strings.Contains(m.Privacy.Statement, "site2 left after 2.") {
				t.Errorf("killed at %s: the statement is %q", k.at, m.Privacy.Statement)
			}
		}
		w.observe(nil)
		if n := w.paid() - before; n != 3 || len(totals) != len(pl.Terms().Bill) || !w.empty(c.State) {
			t.Errorf("killed at %s: %d sites paid for %d totals, or something is left", k.at, n, len(totals))
		}
		w.comeBack()
		if !dead {
			if t.Logf("%d steps", step-1); step < 7+len(pl.Terms().Bill) {
				t.Error("these are few")
			}
			return
		}
	}
}

// A site whose policy does not let its own numbers show is in no training that sites may leave, and a policy says both.
func TestOwnNumbersShowIfThePolicySaysSo(t *testing.T) {
	w := leaving(t)
	train := func() error {
		_, err := w.patient().Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
		return err
	}
	before := w.paid()
	for clause, change := range map[string]func(p *Policy){
		"own_numbers: not shown, which this asks for": func(p *Policy) { p.OwnNumbers, p.MayLeave = false, 0 },
		"may_leave: 1 at most, this asks for 2":       func(p *Policy) {},
		"minimum_sites: 3 at least, this asks for 2":  func(p *Policy) { p.MinimumSites = 3 },
	} {
		old := *w.policies[1]
		w.allow(1, func(p *Policy) { p.Figures = true; change(p) })
		p, about := w.policies[1], &sites.Training{}
		text, _, err := w.patient().resume(must2(w.patient().describe(w.schema, planOf(t, w.schema, 0, 60).Terms(), nil)))
		must(t, err)
		must(t, sites.Decode(text, about))
		if strings.HasPrefix(clause, "may_leave") { // of four sites
			p = &Policy{}
			*p = *w.policies[1]
			p.Sites = map[string]string{"more": strings.Repeat("12", 32)}
			for name, key := range w.policies[1].Sites {
				p.Sites[name] = key
			}
			about.Sites = append(about.Sites, sites.Member{Name: "more", Key: bytes.Repeat([]byte{0x12}, 32)})
			about.MayLeave, p.Honest = 2, 2
		}
		if err := p.check(about, w.uni.Caller, time.Now()); kindOf(err) != "not-allowed" || !strings.Contains(err.Error(), "site1's policy, "+clause) {
			t.Errorf("a policy refuses with %v, want %q", err, clause)
		}
		if !strings.HasPrefix(clause, "may_leave") {
			if err := train(); err == nil || !strings.Contains(err.Error(), "site1's policy, "+clause[:10]) {
				t.Errorf("a coordinator is told %v, want %q", err, clause)
			}
		}
		w.allow(1, func(p *Policy) { *p = old })
	}
	if w.paid() != before {
		t.Error("a training that is refused is paid for")
	}
	for what, change := range map[string]func(p *Policy){
		"may_leave":                  func(p *Policy) { p.MayLeave = 2 },
		"may_leave that is negative": func(p *Policy) { p.MayLeave = -1 },
		"own_numbers":                func(p *Policy) { p.MayLeave = 0 },
		"own_numbers without":        func(p *Policy) { p.OwnNumbers = false },
		"may_leave of public rows":   func(p *Policy) { p.PublicRows = true },
	} {
		p := *w.policies[0]
		p.Until = "2999-12-31"
		text := p.Draft()
		must(t, p.CheckDraft())
		change(&p)
		name, _, _ := strings.Cut(what, " ")
		if strings.Contains(text, "own_numbers") != true || strings.Count(text, "may_leave") != 1 {
			t.Errorf("the draft is %s", text)
		}
		text = strings.Replace(p.Draft(), "own_numbers: true", fmt.Sprintf("own_numbers: %v", p.OwnNumbers), 1)
		if !p.OwnNumbers {
			text += fmt.Sprintf("may_leave: %d\n", p.MayLeave)
		}
		if _, err := parsePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), "_") {
			t.Errorf("a policy with %s %v: %v", what, name, err)
		}
	}
	words, err := w.policies[0].Words(w.schema)
	must(t, err)
	if !strings.Contains(strings.Join(words, " "), "THIS SITE'S OWN sums") {
		t.Errorf("the words are %q", words)
	}
	s := replaced(t, w.schema)
	if err := w.patient().Check(s, planOf(t, s, 0, 60)); err == nil || !strings.Contains(err.Error(), "replace-one") {
		t.Errorf("sites whose number of rows is public may leave: %v", err)
	}
}

func must2[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// An answer that is too short, or out of the range of sums over rows, is its site's, by name: that site leaves, or the
// training ends. Masks hide the range of an answer, and leave that of the total.
func TestNonsenseIsNamed(t *testing.T) {
	w := leaving(t)
	for what, spoil := range map[string]func(b []byte) []byte{
		"short":        func(b []byte) []byte { return b[:len(b)-16] },
		"odd":          func(b []byte) []byte { return b[:len(b)-1] },
		"out of range": func(b []byte) []byte { return append(b[:len(b)-16:len(b)-16], bytes.Repeat([]byte{0x5a}, 16)...) },
	} {
		for may := range 2 {
			w.observe(func(i int, h http.Handler, to http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, r)
				b := answer.Body.Bytes()
				if i == 0 && r.URL.Path == askCall {
					b = spoil(b)
				}
				to.WriteHeader(answer.Code)
				_, _ = to.Write(b)
			})
			c := w.patient()
			c.MayLeave = may
			said := ""
			c.Say = func(format string, args ...any) { said += fmt.Sprintf(format, args...) }
			m, err := c.Train(t.Context(), w.schema, planOf(t, w.schema, dp.Delta(0), 60), kept)
			switch named := err != nil && strings.Contains(err.Error(), "site site0: sites: an answer must have"); {
			case may == 1 && (err != nil || !strings.Contains(m.Privacy.Statement, "site0 left after 0.") || !strings.Contains(said, "site0 has left")):
				t.Errorf("%s: %v, said %q", what, err, said)
			case may == 0 && what != "out of range" && !named:
				t.Errorf("%s: %v", what, err)
			case may == 0 && what == "out of range" && (err == nil || !strings.Contains(err.Error(), "range of sums over rows")):
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
