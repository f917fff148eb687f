// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// schemaOf has three columns, one of which asks for bins by counts, so many that say nothing, and a label.
// With many columns Gaussian noise pays.
func schemaOf(t testing.TB, classes, flags int) *schema.Schema {
	t.Helper()
	positive := ""
	if classes == 2 {
		positive = `, positive: "c1"`
	}
	var levels []string
	for k := range classes {
		levels = append(levels, fmt.Sprintf("c%d", k))
	}
	more := ""
	for k := range flags {
		more += fmt.Sprintf("  - {name: f%d, role: private, category: {levels: [n, y]}}\n", k)
	}
	s, err := schema.Parse([]byte(`name: clinics
unit: one patient
relation: add-remove
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: age, role: private, number: {lower: 0, upper: 100, integer: true, default: 50}}
  - {name: dose, role: private, number: {lower: 0, upper: 10, default: 5, bins: quantiles}}
  - {name: ward, role: private, category: {levels: ["a", "b", "c"]}}
` + more + `  - {name: ill, role: private, label: {levels: [` + strings.Join(levels, ", ") + `]` + positive + `, default: c0}}
`))
	must(t, err)
	return s
}

// rowsOf draws rows whose label follows from the columns.
func rowsOf(n, classes, flags int) []string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]string, n)
	for i := range out {
		age, dose, ward := r.IntN(101), 10*r.Float64(), r.IntN(3)
		score := float64(age)/50 + dose/5 + float64(ward)/2 + r.NormFloat64()
		out[i] = fmt.Sprintf("%d,%.3f,%c", age, dose, 'a'+ward)
		for range flags {
			out[i] += "," + string("ny"[r.IntN(2)])
		}
		out[i] += fmt.Sprintf(",c%d", min(classes-1, max(0, int(score*float64(classes)/5))))
	}
	return out
}

func tableOf(t testing.TB, s *schema.Schema, rows []string) *memory.Table {
	t.Helper()
	m, err := memory.New(readRows(t, s, rows))
	must(t, err)
	return m
}

func readRows(t testing.TB, s *schema.Schema, rows []string) *dataset.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	head := ""
	for k := range s.Columns {
		head += s.Columns[k].Name + ","
	}
	must(t, os.WriteFile(path, []byte(head+s.Label.Name+"\n"+strings.Join(rows, "\n")+"\n"), 0o600))
	tab, err := dataset.Read(t.Context(), s, dataset.Options{}, path)
	must(t, err)
	return tab
}

// free is an account that counts in memory. It resumes as the ledger does.
type free struct {
	mu      *sync.Mutex
	charges map[sites.Digest]int
	sets    map[sites.Digest]sites.Digest
	id      sites.Digest
	order   Order
}

func (f free) Charge(context.Context, dp.Price, []dp.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.charges[f.id] > 0 && f.order.Resume && f.sets[f.id] == f.order.Set {
		return nil
	}
	f.charges[f.id]++
	f.sets[f.id] = f.order.Set
	if f.charges[f.id] > 1 {
		return fmt.Errorf("paid twice")
	}
	return nil
}
func (free) Counted() bool                         { return true }
func (free) Abandon(context.Context, string) error { return nil }

// world is an authority, a coordinator and sites.
type world struct {
	t         testing.TB
	schema    *schema.Schema
	authority *identity.Authority
	uni       *identity.Identity
	policies  []*Policy
	params    []Params
	servers   []*httptest.Server
	peers     []Peer
	account   free
	parts     [][]string // the rows of each site

	mu       sync.Mutex
	handlers map[int]http.Handler
	running  map[int]*Server
	watch    func(i int, h http.Handler, to http.ResponseWriter, r *http.Request)
	calls    sync.WaitGroup // that servers answer
}

// newWorld splits the rows over so many sites, the first of which has one row in two, or one person.
func newWorld(t testing.TB, s *schema.Schema, rows []string, n int) *world {
	t.Helper()
	if s.Person != nil {
		_, parts := deal(rows, n)
		return newWorldOf(t, s, parts)
	}
	parts := make([][]string, n)
	for i, row := range rows {
		k := 0
		if i%2 == 1 {
			k = 1 + (i/2)%(n-1)
		}
		parts[k] = append(parts[k], row)
	}
	return newWorldOf(t, s, parts)
}

// newWorldOf gives each site its rows.
func newWorldOf(t testing.TB, s *schema.Schema, parts [][]string) *world {
	t.Helper()
	n := len(parts)
	a, err := identity.NewAuthority(time.Now(), 24*time.Hour)
	must(t, err)
	w := &world{t: t, schema: s, authority: a, handlers: map[int]http.Handler{}, running: map[int]*Server{},
		account: free{mu: &sync.Mutex{}, charges: map[sites.Digest]int{}, sets: map[sites.Digest]sites.Digest{}}}
	w.uni = w.identity(identity.Combiner, "uni")
	agreed, err := sites.SchemaDigest(s)
	must(t, err)
	all := Policy{Clauses: policy.Clauses{Version: policy.Version, Number: 1, Data: "patients", Training: policy.Limit{Epsilon: "4", Delta: "0.001"},
		Lifetime: policy.Limit{Epsilon: "40", Delta: "0.01"}, Until: "2999-12-31", End: time.Now().Add(time.Hour)},
		Coordinators: []string{"uni"}, Sites: map[string]string{}, MinimumSites: 2, Honest: n, Schema: agreed, Measurements: 300,
		Numbers: 10000, PublicRows: s.Relation == dp.ReplaceOne}
	w.parts = parts
	anchors := anchor.Folder(t.TempDir()) // of one machine
	for i := range n {
		public, key, err := ed25519.GenerateKey(nil)
		must(t, err)
		name := fmt.Sprintf("site%d", i)
		all.Sites[name] = hex.EncodeToString(public)
		own := all
		own.Site = name
		w.policies = append(w.policies, &own)
		w.params = append(w.params, Params{Self: w.identity(identity.Party, name), Policy: &own, Key: key, State: t.TempDir(),
			Anchors: anchors,
			Table:   tableOf(t, s, parts[i]), Rows: sites.Digest(name),
			Charge: func(_ context.Context, o Order) (Account, error) {
				f := w.account
				f.id, f.order = sites.Digest(name+" "+o.Data+" ")+o.Training, o
				return f, nil
			},
			Log: quiet, Now: time.Now})
		w.peers = append(w.peers, Peer{Name: name, Key: public})
		w.servers = append(w.servers, nil)
		w.start(i)
	}
	t.Cleanup(func() {
		for _, s := range w.servers {
			s.Close()
		}
		w.calls.Wait() // a call that was cancelled may still write
	})
	return w
}

func (w *world) identity(role identity.Role, name string) *identity.Identity {
	w.t.Helper()
	id, err := w.authority.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1"}, time.Now(), 12*time.Hour)
	must(w.t, err)
	return id
}

// start serves a site, from what its state holds. What watch returns may take the place of its handler
// for one call.
func (w *world) start(i int) {
	w.t.Helper()
	w.restart(i)
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		w.calls.Add(1)
		defer w.calls.Done()
		w.mu.Lock()
		h, watch := w.handlers[i], w.watch
		w.mu.Unlock()
		if watch != nil {
			watch(i, h, to, r)
			return
		}
		h.ServeHTTP(to, r)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.EnableHTTP2, h.TLS = true, w.params[i].Self.Server()
	h.StartTLS()
	w.servers[i], w.peers[i].URL = h, h.URL
}

// observe lets watch see the calls from now on; nil: nobody does.
func (w *world) observe(watch func(i int, h http.Handler, to http.ResponseWriter, r *http.Request)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch = watch
}

// restart forgets what a site has in memory, as a kill does.
func (w *world) restart(i int) {
	server, err := New(w.params[i])
	if err != nil {
		w.t.Error(err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handlers[i], w.running[i] = server.Handler(), server
}

// allow puts a changed policy in force at a site. The old one stays as it is: calls that were cancelled
// may still read it.
func (w *world) allow(i int, change func(p *Policy)) {
	w.t.Helper()
	p := *w.policies[i]
	change(&p)
	w.policies[i], w.params[i].Policy = &p, &p
	w.restart(i)
}

func (w *world) coordinator(honest int) *Coordinator {
	return &Coordinator{Self: w.uni, Peers: w.peers, Honest: honest, State: w.t.(interface{ TempDir() string }).TempDir(),
		Wait: 20 * time.Second, Say: func(string, ...any) {}}
}

// kept keeps a model nowhere.
func kept(*model.Model) error { return nil }

func planOf(t testing.TB, s *schema.Schema, delta dp.Delta, rows int) *additive.Plan {
	t.Helper()
	pl, err := additive.Params{Epsilon: 2 * dp.Nano, Delta: delta, Rows: rows, TakeAll: true}.Plan(s, 0)
	must(t, err)
	return pl
}

// tape lets the sites' totals leave in place of noise.
type tape struct {
	t      *testing.T
	totals map[string][][]mech.Whole
}

func (p *tape) Numbers(label string, m mech.Mechanism, values []mech.Ratio) []float64 {
	next := p.totals[label][0]
	p.totals[label] = p.totals[label][1:]
	var out []float64
	deviation := 0.0
	switch m := m.(type) {
	case mech.Gaussian:
		shared, err := mech.SharedGaussian(m.Rho(), m.Sensitivity(), len(values), 1)
		must(p.t, err)
		out, deviation = shared.Floats(next), m.Scale()
	case mech.Laplace:
		shared, err := mech.SharedLaplace(m.Loss(), m.Sensitivity(), len(values), 1)
		must(p.t, err)
		out, deviation = shared.Floats(next), m.Scale()
	}
	if label == "number of rows by label" { // turned round by the learner
		slices.Reverse(out)
	}
	for i, v := range values { // the sites' sums are those of the union
		if math.Abs(out[i]-v.Float()) > 40*deviation {
			p.t.Errorf("%s: number %d is %g with noise and %g without", label, i, out[i], v.Float())
		}
	}
	return out
}
func (*tape) Choice(string, mech.Selector, []mech.Ratio) int { panic("nothing is selected") }

func (*tape) Report(string, response.Priced, []mech.Ratio) response.Report { return nil }

// bytesOf is the model without what says how it was counted and drawn.
func bytesOf(t testing.TB, m *model.Model) []byte {
	t.Helper()
	m.Privacy.Counted, m.Privacy.Seeded, m.Privacy.Unprotected = false, false, []string{"what is not"}
	b, err := model.Marshal(m)
	must(t, err)
	return b
}

// changed is s with another line in place of one.
func changed(t testing.TB, s *schema.Schema, old, by string) *schema.Schema {
	t.Helper()
	text, err := s.YAML()
	must(t, err)
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%q is not in %s once", old, text)
	}
	other, err := schema.Parse([]byte(strings.Replace(string(text), old, by, 1)))
	must(t, err)
	return other
}

// replaced is s with a public number of rows.
func replaced(t testing.TB, s *schema.Schema) *schema.Schema {
	return changed(t, s, "relation: add-remove", "relation: replace-one")
}

// withPersons is s with persons who count for so many rows, in a first column.
func withPersons(t testing.TB, s *schema.Schema, most string) *schema.Schema {
	return changed(t, s, "columns:\n", "person: {column: id, rows: "+most+"}\ncolumns:\n  - {name: id, role: ignored}\n")
}

// deal gives the rows to persons, who have one to six each, and the persons to sites, the first of which
// has one in two. Rows of one person do not lie together.
func deal(rows []string, n int) (all []string, parts [][]string) {
	parts = make([][]string, n)
	r := rand.New(rand.NewPCG(7, 7))
	var ids []int
	for person := 0; len(ids) < len(rows); person++ {
		for range 1 + r.IntN(6) {
			ids = append(ids, person)
		}
	}
	r.Shuffle(len(rows), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for i, row := range rows {
		k := 0
		if ids[i]%2 == 1 {
			k = 1 + (ids[i]/2)%(n-1)
		}
		row = fmt.Sprintf("p%d,%s", ids[i], row)
		all, parts[k] = append(all, row), append(parts[k], row)
	}
	return all, parts
}

// On a tape of the noisy totals the rows of one table and of 2, 3 and 10 sites make the same model.
func TestSameModelWhereverRowsLie(t *testing.T) {
	for _, c := range []struct {
		name     string
		classes  int
		delta    dp.Delta
		persons  string // what each counts for; "": rows are units of their own
		replaced bool
	}{{"gaussian", 2, 1e12, "", false}, {"laplace", 2, 0, "", false}, {"three classes", 3, 1e12, "", false},
		{"three classes, laplace", 3, 0, "", false}, {"replaced", 2, 1e12, "", true}, {"replaced, laplace", 2, 0, "", true},
		{"persons", 2, 1e12, "3", false}, {"persons, laplace", 2, 0, "1", false}, {"persons of three classes", 3, 0, "2", false},
		{"replaced persons", 2, 0, "1", true}} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "gaussian" && c.name != "persons, laplace" {
				size.OnlyLong(t, "the same calls with other sums")
			}
			s, rows := schemaOf(t, c.classes, 20), rowsOf(600, c.classes, 20)
			if c.replaced {
				s = replaced(t, s)
			}
			if c.persons != "" {
				s = withPersons(t, s, c.persons)
				rows, _ = deal(rows, 2)
			}
			units := guard.PublicUnits(tableOf(t, s, rows))
			pl := planOf(t, s, c.delta, cmp.Or(units, len(rows)))
			var taken map[string][][]mech.Whole
			var want []byte
			numbers := []int{2, 3, 10}
			if c.replaced || c.persons != "" {
				numbers = numbers[:2]
			}
			for _, n := range numbers {
				w := newWorld(t, s, rowsOf(600, c.classes, 20), n)
				coordinator := w.coordinator(n)
				coordinator.Rows = units
				first := taken == nil
				if first {
					taken = map[string][][]mech.Whole{}
				}
				left := map[string][][]mech.Whole{}
				for label, all := range taken {
					left[label] = all
				}
				coordinator.Total = func(label string, sums []mech.Whole) []mech.Whole {
					if first {
						taken[label] = append(taken[label], sums)
						return sums
					}
					next := left[label][0]
					left[label] = left[label][1:]
					near(t, label, sums, next)
					return next
				}
				m, err := coordinator.Train(t.Context(), s, pl, kept)
				must(t, err)
				bill := pl.Terms().Bill // the first line, of the classes, is pure
				if gaussian := bill[len(bill)-1].Rho > 0; gaussian != (c.delta > 0) {
					t.Errorf("the noise is Gaussian: %v", gaussian)
				}
				got := bytesOf(t, m)
				if first {
					want = got
					all := &tape{t, map[string][][]mech.Whole{}}
					for label, totals := range taken {
						all.totals[label] = totals
					}
					m, err := guard.Train[*model.Model](t.Context(), pl, tableOf(t, s, rows), guard.Uncounted{},
						mech.NewTapedExit(rng.System(), all))
					must(t, err)
					if union := bytesOf(t, m); !bytes.Equal(union, got) {
						t.Errorf("the model of the union differs:\n%s\n%s", union, got)
					}
				}
				if !bytes.Equal(got, want) {
					t.Errorf("the model of %d sites differs", n)
				}
			}
		})
	}
}

// near holds two noisy totals of one sum against each other: unmasked, a number of 128 random bits is
// nowhere near.
func near(t *testing.T, label string, a, b []mech.Whole) {
	t.Helper()
	for i := range a {
		if d := a[i].Minus(b[i]); d.High+1<<20 > 2<<20 {
			t.Errorf("%s: totals differ by %v", label, d)
		}
	}
}

// What alarms and the dashboard of packaging/site ask for is what a site shows.
func TestMonitoringAsksForWhatThereIs(t *testing.T) {
	w := small(t)
	_, err := w.coordinator(2).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 60), kept)
	must(t, err)
	to := httptest.NewRecorder()
	w.running[0].meters.Refused("call", problem.Storage) // there is no line before the first
	w.running[0].Page().ServeHTTP(to, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	page := to.Body.String()
	asked, known := 0, []problem.Kind{problem.Storage, problem.Internal, problem.NotAllowed, problem.Forbidden, problem.Malformed,
		problem.Spent}
	for _, name := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join("../../../../packaging/site", name))
		must(t, err)
		for _, metric := range regexp.MustCompile(`\b(discreet|process)_\w+`).FindAllString(string(text), -1) {
			asked++
			if !strings.Contains(page, "\n"+metric) {
				t.Errorf("%s asks for %s, which no site shows", name, metric)
			}
		}
		for _, kind := range regexp.MustCompile(`kind=~?\\?"([a-z|-]+)`).FindAllStringSubmatch(string(text), -1) {
			for k := range strings.SplitSeq(kind[1], "|") {
				if !slices.ContainsFunc(known, func(of problem.Kind) bool { return of.String() == k }) {
					t.Errorf("%s asks for refusals of kind %s, which there is not", name, k)
				}
			}
		}
	}
	if asked < 12 {
		t.Errorf("only %d metrics are asked for", asked)
	}
}

// A site opens the kit of the key that it knows, unchanged, if it is in it.
func TestKitsThatAreRefused(t *testing.T) {
	w := small(t)
	public, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	kitOf := func(policy string) string {
		var b bytes.Buffer
		must(t, WriteKit(&Kit{Sites: "sites", Schema: "schema", Authority: "a", Policies: map[string]string{"site0": policy}}, key, &b))
		return b.String()
	}
	whole := kitOf(w.policies[0].Draft())
	for what, c := range map[string]struct {
		text, site string
		from       ed25519.PublicKey
		taken      bool
	}{
		"as it is":        {whole, "site0", public, true},
		"for another":     {whole, "site1", public, false},
		"of another key":  {whole, "site0", w.params[0].Key.Public().(ed25519.PublicKey), false},
		"changed":         {strings.Replace(whole, "honest: 3", "honest: 1", 1), "site0", public, false},
		"without a line":  {whole[:strings.LastIndex(whole, "# signed")], "site0", public, false},
		"with more in it": {"\n" + whole, "site0", public, false},
		"with a forged line": {kitOf(strings.Replace(w.policies[0].Draft(), "# programs: [v1.0.0]",
			`programs: ["v1\nThis site answers no one."] #`, 1)), "site0", public, false},
		"with a title": {kitOf(strings.Replace(w.policies[0].Draft(), "# programs: [v1.0.0]", `programs: ["v1\e[2J"] #`, 1)),
			"site0", public, false},
		"with a program": {kitOf(strings.Replace(w.policies[0].Draft(), "# programs: [v1.0.0]", `programs: ["v1"] #`, 1)),
			"site0", public, true},
	} {
		path := filepath.Join(t.TempDir(), "kit")
		must(t, os.WriteFile(path, []byte(c.text), 0o600))
		k, draft, err := ReadKit(path, c.from, c.site)
		if (err == nil) != c.taken {
			t.Errorf("a kit %s: %v", what, err)
		}
		if err == nil && (k.Schema != "schema" || draft.Site != "site0" || draft.Honest != 3) {
			t.Errorf("a kit %s is another one: %+v", what, k)
		}
	}
}

// A schema that no site can answer for is refused by its reason, before any site is asked.
func TestSchemasThatSitesRefuse(t *testing.T) {
	refused := func(what, param string, err error) {
		t.Helper()
		if bad := (*dp.ParamError)(nil); !errors.As(err, &bad) || bad.Param != param {
			t.Errorf("%s: %v", what, err)
		}
	}
	w := small(t)
	s := w.schema
	many := withPersons(t, s, "65537")
	_, err := (&Coordinator{Self: &identity.Identity{}}).describe(many, guard.Terms{}, nil)
	refused("65537 rows of a person", "person", err)
	p := w.params[0]
	p.Table = tableOf(t, many, []string{"1,2,3,a,c0"})
	_, err = New(p)
	refused("a site with 65537 rows of a person", "person", err)
	for _, of := range []*schema.Schema{s, replaced(t, s)} {
		p := w.params[0]
		own := *p.Policy
		p.Policy, p.Table = &own, tableOf(t, of, rowsOf(5, 2, 0))
		agreed, err := sites.SchemaDigest(of)
		must(t, err)
		own.Schema, own.PublicRows = agreed, of == s
		_, err = New(p)
		refused("public_rows that are not the schema's", "public_rows", err)
		_, err = own.Words(of)
		refused("words of public_rows that are not the schema's", "public_rows", err)
		own.PublicRows = !own.PublicRows
		_, err = New(p)
		must(t, err)
	}
}

// The number of a site's rows, or persons, leaves if it is public, and not otherwise. A coordinator that
// counts on another one, and a δ at which a row of all may be published, are refused before anything is
// paid.
func TestNumberOfRowsLeavesIfPublic(t *testing.T) {
	for _, c := range []struct {
		persons string
		public  bool
	}{{"", false}, {"", true}, {"2", false}, {"2", true}} {
		s := schemaOf(t, 2, 0)
		if c.persons != "" {
			s = withPersons(t, s, c.persons)
		}
		if c.public {
			s = replaced(t, s)
		}
		w := newWorld(t, s, rowsOf(60, 2, 0), 3)
		all := 0
		for _, p := range w.params {
			all += guard.PublicUnits(p.Table)
		}
		if c.public != (all > 0) || c.public && (c.persons == "") != (all == 60) {
			t.Fatalf("%d units", all)
		}
		begun := func(delta dp.Delta, rows int) (*sites.Set, error) {
			coordinator := w.coordinator(2)
			coordinator.connect()
			coordinator.Rows = rows
			about, err := coordinator.describe(s, planOf(t, s, 0, 60).Terms(), nil)
			must(t, err)
			about.Delta = delta
			text, _, err := coordinator.resume(about)
			must(t, err)
			return coordinator.assemble(t.Context(), about, text, sites.TrainingDigest(text))
		}
		set, err := begun(0, all)
		must(t, err)
		for i := range set.Joined {
			if got, want := set.Joined[i].Units, guard.PublicUnits(w.params[i].Table); got != want {
				t.Errorf("site %d says that it has %d rows or persons, want %d", i, got, want)
			}
		}
		if !c.public {
			continue
		}
		before := w.paid()
		if _, err := begun(0, all+1); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("must be %d,", all)) {
			t.Errorf("a coordinator that counts on %d of %d rows: %v", all+1, all, err)
		}
		for i := range w.policies { // of the rows of a site it protects one
			w.allow(i, func(p *Policy) { p.Training.Delta, p.Lifetime.Delta = "0.5", "0.9" })
		}
		if _, err := begun(dp.Femto/dp.Delta(all)+1, all); kindOf(err) != "not-allowed" || !strings.Contains(err.Error(), "below 1/rows") {
			t.Errorf("a delta of 1/%d: %v", all, err)
		}
		if w.paid() != before {
			t.Error("what is refused is paid for")
		}
	}
}

// A site counts for a person what the schema says, however many rows they have there, and half as much
// again elsewhere if they have rows at two sites: each site keeps to its own rows.
func TestPersonsCountAtEachSite(t *testing.T) {
	s := withPersons(t, schemaOf(t, 2, 0), "2")
	person := func(id string, rows int) (out []string) {
		for range rows {
			out = append(out, id+",50,5,a,c1")
		}
		return out
	}
	w := newWorldOf(t, s, [][]string{
		append(person("ann", 9), person("ben", 1)...), // 2 + 1
		person("cec", 4), // 2
		append(person("ann", 3), person("", 5)...), // 2, and nobody's count for nothing
	})
	for i := range w.policies {
		w.allow(i, func(p *Policy) { p.Training.Epsilon, p.Lifetime.Epsilon = "1000", "1000" })
	}
	pl, err := additive.Params{Epsilon: 1000 * dp.Nano, Rows: 22, TakeAll: true}.Plan(s, 0)
	must(t, err)
	c := w.coordinator(3)
	var got []float64
	c.Total = func(label string, sums []mech.Whole) []mech.Whole {
		if label == "number of rows by label" {
			for _, e := range pl.Terms().Bill {
				if e.Release == label {
					m, err := mech.SharedLaplace(e.Epsilon, 2, len(sums), 3)
					must(t, err)
					got = m.Floats(sums)
				}
			}
		}
		return sums
	}
	_, err = c.Train(t.Context(), s, pl, kept)
	must(t, err)
	if len(got) != 2 || math.Abs(got[0]) > 0.5 || math.Abs(got[1]-7) > 0.5 {
		t.Errorf("rows by label weigh %.3f, want 0 and 7", got)
	}
}

// What a person at several sites pays is what steps from neighbour to neighbour add up to.
func TestPriceAtSeveralSites(t *testing.T) {
	one := dp.Price{Epsilon: dp.Nano, Delta: 1e9}
	if got, want := atSites(one, 3), (dp.Price{Epsilon: 3 * dp.Nano, Delta: dp.Delta(math.Ceil(1e9 * (1 + math.E + math.E*math.E)))}); got != want {
		t.Errorf("at three sites a person pays %v, want %v", got, want)
	}
	if got := atSites(one, 1); got != one {
		t.Errorf("at one site a person pays %v", got)
	}
	if got := atSites(dp.Price{Epsilon: 40 * dp.Nano, Delta: 1e9}, 9); got.Delta > dp.Femto {
		t.Errorf("a delta of %v", got.Delta)
	}
}

// A coordinator learns why a site refused: its budget, the state of its ledger, or its policy; and figures only if the
// policy lets it.
func TestRefusalsNameTheirReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind problem.Kind
	}{
		{&ledger.Exceeded{Dataset: "clinic", Limit: 3 * dp.Nano, Spent: 5 * dp.Nano / 2, Asked: dp.Nano}, problem.Spent},
		{&ledger.Conflict{Dataset: "clinic", Job: "J", State: ledger.Began}, problem.TaskClosed},
		{&ledger.Conflict{Dataset: "clinic", Job: "J", State: ledger.Requested}, problem.TaskClosed},
		{dp.Refuse("site", "epsilon", "must be at most 1", 2), problem.NotAllowed},
		{problem.New(problem.NotAllowed, "a price above the policy's"), problem.NotAllowed},
		{sqldb.ErrFailed, problem.Storage},
		{errors.New("a bug"), problem.Internal},
	} {
		s := new(Server)
		s.charter.Store(&charter{policy: &Policy{Site: "west", Figures: true}})
		const told = `west's policy, lifetime: epsilon = 3 allowed in total, epsilon = 2.5 spent, this asks epsilon = 1`
		if p := s.problemOf(c.err); c.kind == problem.Spent && p.Detail != told {
			t.Errorf("the coordinator is told %q, want %q", p.Detail, told)
		}
		s.charter.Store(&charter{policy: &Policy{Site: "west"}})
		p := s.problemOf(fmt.Errorf("site: %w", c.err))
		if strings.Contains(p.Detail, "2.5") {
			t.Errorf("figures are told that the policy keeps: %s", p.Detail)
		}
		if told := p.Error(); p.Kind != c.kind || strings.Contains(told, "clinic") ||
			strings.Contains(told, "budget") != (c.kind == problem.Spent) {
			t.Errorf("%v is told as %s: %q", c.err, p.Kind, told)
		}
	}
}
