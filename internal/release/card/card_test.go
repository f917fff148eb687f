// SPDX-License-Identifier: Apache-2.0

package card

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

var (
	day   = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	about = []string{"curator=City hospital", "intended-use=Triage", "region=Bohemia", "author=A. Officer",
		"published=2026-05-01"}
)

// models are small ones of several learners, prices and scopes.
func models(t *testing.T) (out []*model.Model) {
	t.Helper()
	s := census.Schema()
	tab := censustest.Table(1, 200)
	for _, c := range []train.Choice{
		{Learner: "additive", Price: train.PriceText{Epsilon: "1", Delta: "0"}},
		{Learner: "brc", Price: train.PriceText{Epsilon: "0.5", Delta: "0"}},
		{Learner: "additive", Price: train.PriceText{Epsilon: "1", Delta: "1e-6"}},
		{Learner: "erm", Price: train.PriceText{Epsilon: "20", Delta: "0"}},
		{Learner: "logistic", Price: train.PriceText{Delta: "0", NotPrivate: true}},
	} {
		req, err := c.Request("train")
		if err != nil {
			t.Fatal(err)
		}
		run := train.Training{Op: "train", Request: req, Schema: s, Exceed: true,
			Read: func(context.Context) (*dataset.Table, error) { return tab, nil }}
		m, err := run.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// cardOf is the card of a model, and its file.
func cardOf(t *testing.T, m *model.Model) (*Card, []byte) {
	t.Helper()
	file, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return Of(m, file, "discreet test", day), file
}

// Every model there is has a card in every form, equal ones equal bytes, in words that
// need no mathematics.
func TestEveryModelHasACard(t *testing.T) {
	for _, m := range models(t) {
		path := m.Learner + " at " + m.Privacy.Epsilon.String()
		c, _ := cardOf(t, m)
		for name, write := range map[string]func(*Card, *bytes.Buffer) error{
			"html": func(c *Card, b *bytes.Buffer) error { return c.WriteHTML(b) },
			"yaml": func(c *Card, b *bytes.Buffer) error { return c.WriteYAML(b) },
		} {
			var once, twice bytes.Buffer
			if err := write(c, &once); err != nil {
				t.Fatalf("%s: %s: %v", path, name, err)
			}
			if err := write(c, &twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
				t.Errorf("%s: %s: another card the second time, error %v", path, name, err)
			}
			for _, word := range []string{"e^", "nano", "%!", "<nil>"} {
				if strings.Contains(once.String(), word) {
					t.Errorf("%s: %s: says %q", path, name, word)
				}
			}
		}
		var err error
		if c.About, err = About(nil).Parse(about); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := c.WriteRegistry(&b); (err != nil) != (c.Epsilon == "0") {
			t.Errorf("%s: registry: %v", path, err)
		} else if err == nil {
			checkRecord(t, path, b.Bytes())
		}
	}
}

// checkRecord holds a record to what the registry's schema requires.
func checkRecord(t *testing.T, path string, text []byte) {
	t.Helper()
	var r map[string]any
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, text)
	}
	at := func(keys ...string) any {
		var v any = r
		for _, k := range keys {
			m, ok := v.(map[string]any)
			if !ok || m[k] == nil {
				t.Fatalf("%s: record has no %v", path, keys)
			}
			v = m[k]
		}
		return v
	}
	for _, k := range []string{"name", "data_curators", "description", "intended_use", "data_product_region"} {
		at("deployment", "basic", k)
	}
	if at("status") != "Draft" || at("deployment", "basic", "data_product_type") != "Machine learning model" ||
		at("deployment", "basic", "publication_date") != "2026-05-01" {
		t.Errorf("%s: another status, type or date", path)
	}
	if eps, ok := at("deployment", "privacy_loss", "privacy_parameters", "epsilon").(float64); !ok || !(eps > 0) {
		t.Errorf("%s: epsilon must be a number above 0", path)
	}
	if len(at("deployment", "administrative", "registry_authors").([]any)) != 1 {
		t.Errorf("%s: no author", path)
	}
}

// A browser prints the card: no line is cut, no heading stands alone, the signature is with the model's
// checksum, and every sheet has its number and the model's.
func TestCardsGoOnPaper(t *testing.T) {
	c, _ := cardOf(t, models(t)[0])
	page := write(t, c.WriteHTML)
	for _, rule := range []string{"@media print{", "dt,dd{break-inside:avoid", "h2{break-after:avoid", "section:last-child{break-inside:avoid}",
		"counter(page)", fmt.Sprintf(`@bottom-left{content:"%.16s"}`, c.Checksum), "@media screen and (prefers-color-scheme:dark)"} {
		if !strings.Contains(page, rule) {
			t.Errorf("the page lacks %q", rule)
		}
	}
}

// The lead follows epsilon, and a model without privacy promises nothing.
func TestWordsFollowEpsilon(t *testing.T) {
	m := models(t)[0]
	for eps, want := range map[dp.Epsilon]string{dp.Nano: "with strong", dp.Nano + 1: "with moderate",
		10 * dp.Nano: "with moderate", 10*dp.Nano + 1: "with weak", 50 * dp.Nano: "almost certain"} {
		m.Privacy.Epsilon = eps
		c := Of(m, nil, "discreet test", day)
		if promises := eps.Strength() != dp.Weak; strings.Contains(c.lead(), c.Odds[0]) != promises {
			t.Errorf("epsilon %s: %q, odds %q", eps, c.lead(), c.Odds)
		}
		if !strings.Contains(c.lead(), want) || strings.Contains(strings.Join(c.Odds, " "), "100.0") {
			t.Errorf("epsilon %s: %q, odds %q", eps, c.lead(), c.Odds)
		}
	}
	whole := m.Privacy
	whole.Scope = dp.WholeRow
	m.Privacy = whole
	var b bytes.Buffer
	if err := Of(m, nil, "discreet test", day).WriteHTML(&b); err != nil ||
		strings.Contains(b.String(), "Public columns") {
		t.Errorf("all columns are protected, yet some are listed as public (%v)", err)
	}
	m.Privacy.Scope = dp.Nothing
	b.Reset()
	if err := Of(m, nil, "discreet test", day).WriteHTML(&b); err != nil || !strings.Contains(b.String(), "NOT PRIVATE") ||
		strings.Count(b.String(), "<main>") != 1 ||
		!strings.Contains(b.String(), `class="lead alarm"`) || strings.Contains(b.String(), "Protected from") ||
		strings.Contains(b.String(), "k times epsilon") {
		t.Errorf("a model without privacy has promises on its card (%v)", err)
	}
}

// The FAQ, a card and the warning of plans and statements call an epsilon by one scale and cite it.
func TestOneScaleOfEpsilon(t *testing.T) {
	page, err := os.ReadFile("../../../docs/faq.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([0-9.]+) \| (.+?) \| (\w+) \|$`).FindAllStringSubmatch(string(page), -1)
	called := map[dp.Strength]bool{}
	for _, r := range rows {
		eps, err := dp.ParseEpsilon(r[1])
		if err != nil {
			t.Fatal(err)
		}
		_, odds := DescribeGuarantee(&model.Privacy{Scope: dp.WholeRow, Epsilon: eps})
		sure := strings.TrimSuffix(strings.ReplaceAll(odds[0], "\u00a0", " "), ".")
		if want := "becomes at most " + r[2]; !strings.HasSuffix(sure, want) &&
			(r[2] != "almost certain" || !strings.HasSuffix(sure, "near certainty")) || string(eps.Strength()) != r[3] {
			t.Errorf("docs/faq.md: epsilon %s: %q, %s; the card: %q, %s", eps, r[2], r[3], odds[0], eps.Strength())
		}
		called[eps.Strength()] = true
	}
	for eps, want := range map[dp.Epsilon]dp.Strength{dp.Nano: dp.Strong, dp.Nano + 1: dp.Moderate, 10 * dp.Nano: dp.Moderate,
		10*dp.Nano + 1: dp.Weak} {
		if got := eps.Strength(); got != want {
			t.Errorf("epsilon %s is %s, want %s", eps, got, want)
		}
	}
	if len(called) != 3 {
		t.Errorf("docs/faq.md has %d of 3 classes in %d rows", len(called), len(rows))
	}
	for _, name := range []string{"strong up to ε = 1, moderate up to 10, weak above", "Ponomareva et al. 2023"} {
		if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), name) {
			t.Errorf("docs/faq.md lacks %q", name)
		}
	}
	var b bytes.Buffer
	if err := Of(models(t)[0], nil, "discreet test", day).WriteHTML(&b); err != nil ||
		!strings.Contains(b.String(), dp.DescribeScale()) {
		t.Errorf("the card lacks the scale (%v)", err)
	}
}

// The fit that auto chose is a line of its bill, which the card itemises.
func TestCardsItemiseTheChoice(t *testing.T) {
	m := models(t)[0]
	words := "Chosen: additive, with 19 measurements by laplace, epsilon = 0.9 in total. "
	m.Privacy.Statement = words + m.Privacy.Statement
	if text := write(t, Of(m, nil, "discreet test", day).WriteHTML); !strings.Contains(text, strings.TrimSpace(words)+"<") {
		t.Errorf("the card does not itemise the fit that was chosen: %s", text)
	}
}

// The odds are Bayes' rule with the largest likelihood ratio, rounded up.
func TestOddsAreBayes(t *testing.T) {
	for _, eps := range []dp.Epsilon{1, dp.Nano / 10, dp.Nano, 5 * dp.Nano, dp.MaxEpsilon} {
		for _, before := range []float64{0.5, 0.1, 0.01} {
			ratio := math.Exp(min(eps.Float(), 300))
			want := before * ratio / (before*ratio + 1 - before)
			got, _, _ := strings.Cut(percentOf(eps, before), "\u00a0")
			x, err := json.Number(got).Float64()
			if err != nil || x/100 < want-1e-11 || x/100 > want+0.001 {
				t.Errorf("epsilon %s, before %g: %s %%, want %.4f", eps, before, got, 100*want)
			}
		}
	}
	if got := percentOf(dp.Nano, 0.5); got != "73.2\u00a0%" {
		t.Errorf("an even bet at 1: %s", got)
	}
}

// A ledger names the entry that holds these very bytes, and no other model's.
func TestLedgerHoldsTheModel(t *testing.T) {
	ctx := context.Background()
	c, file := cardOf(t, models(t)[0])
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Declare(ctx, ledger.Dataset{Name: "d", Epsilon: 2 * dp.Nano, Note: "set by the board"}); err != nil {
		t.Fatal(err)
	}
	job, err := l.Job(ctx, ledger.Request{Dataset: "d", ID: "monday", Config: []byte("{}"),
		Terms: ledger.Terms{Unit: "one person", Relation: dp.ReplaceOne, Protected: []string{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	bill := []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: dp.Nano}}
	if err := job.Charge(ctx, dp.Pure(bill), bill); err != nil {
		t.Fatal(err)
	}
	if err := c.AddLedger(ctx, l, false); err == nil || c.Entry != nil {
		t.Error("a ledger without the model must be refused")
	}
	if err := job.Commit(ctx, file); err != nil {
		t.Fatal(err)
	}
	if err := c.AddLedger(ctx, l, false); err != nil {
		t.Fatal(err)
	}
	e := c.Entry
	if e.Dataset != "d" || e.Job != "monday" || e.Total != "epsilon 2" || e.Spent != "epsilon 1" ||
		e.Left != "epsilon 1" || e.Note != "set by the board" || len(e.Hash) != 64 || e.HeadSeq < e.Seq {
		t.Errorf("entry %+v", e)
	}
	var b bytes.Buffer
	if err := c.WriteHTML(&b); err != nil || !strings.Contains(b.String(), e.HeadHash) {
		t.Errorf("the head is not on the page, error %v", err)
	}
}

func TestAuditFiles(t *testing.T) {
	c := &Card{}
	path := filepath.Join(t.TempDir(), "a.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := `{"subject":"brc","claim":1,"lower_bound":0.34018835663500646,"confidence":0.95,"runs":500,"verdict":"not refuted","counts":[150,80],"counted_runs":250}`
	write(good)
	if err := c.AddAudit(path); err != nil || c.Audit.LowerBound != 0.34018835663500646 || c.Audit.Counted != 250 {
		t.Errorf("got %+v, error %v", c.Audit, err)
	}
	few := strings.NewReplacer("0.34018835663500646", "0", "500", "63", "150,80", "20,19", "250}", "32}").Replace(good)
	if c.AddAuditText([]byte(few)) == nil || c.AddAuditText([]byte(strings.Replace(few, "63", "64", 1))) != nil {
		t.Error("an audit makes at least 64 runs")
	}
	// Numbers that contradict each other.
	for _, edit := range [][2]string{{`"claim":1`, `"claim":0.3`}, {`"claim":1`, `"claim":0`}, {"0.34018835663500646", "0.33"},
		{`1,"lower_bound":0.34018835663500646`, `0.3,"lower_bound":0`}, {"not refuted", "REFUTED"}, {"not refuted", "fine"}, {`"runs":500`, `"runs":1`},
		{`"runs":500`, `"runs":250`}, {`"runs":500`, `"runs":501`}, {"0.95", "1"}, {"0.95", "0.99"}, {"[150,80]", "[251,80]"},
		{"[150,80]", "[150,-1]"}, {"250}", "0}"}, {`"claim":1`, `"claim":1,"delta":1`}, {`"claim":1`, `"claim":1,"delta":0.1`}} {
		if text := strings.Replace(good, edit[0], edit[1], 1); text == good || c.AddAuditText([]byte(text)) == nil {
			t.Errorf("taken: %s", text)
		}
	}
	for _, text := range []string{"", "CANARY,7700131", `{"subject":"CANARY"}`,
		`{"lower_bound":1,"verdict":"CANARY\u001b[2J"}`} {
		write(text)
		if err := c.AddAudit(path); err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// A policy that asks for an audit takes what the command audit prints of this model's learner at this model's price.
func TestPolicyTakesTheAuditOfThisModel(t *testing.T) {
	limit := policy.Limit{Epsilon: "20", Delta: "0.1"}
	p := &policy.Project{Clauses: policy.Clauses{Training: limit, Lifetime: limit}, Audit: true, Signer: make([]byte, 32)}
	const text = `{"subject":"%s","claim":%v,"delta":%v,"lower_bound":%v,"confidence":0.999999,"runs":2014,"verdict":"%s",` +
		`"counts":%s,"counted_runs":1715}`
	none := "[1666,1672]"
	for i, m := range models(t)[:3] {
		subject := "learner " + m.Learner + " on 100 rows"
		if m.Learner == "brc" {
			subject = "learner brc, 2 rounds on 1000 rows"
		}
		eps, delta := m.Privacy.Epsilon.Float(), m.Privacy.Delta.Float()
		for j, a := range []struct {
			met  bool
			text string
		}{
			{true, fmt.Sprintf(text, subject, eps, delta, 0, "not refuted", none)},
			{true, fmt.Sprintf(text, "learner "+m.Learner+" on the rows of 100 persons", eps, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, "learner auto on 100 rows", eps, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, "learner "+m.Learner+"x on 100 rows", eps, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, m.Learner, eps, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, "mechanism laplace", eps, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, subject, eps/2, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, subject, 2*eps, delta, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, subject, eps, delta+1e-7, 0, "not refuted", none)},
			{false, fmt.Sprintf(text, subject, eps, delta, stats.EpsilonLowerBound(1715, 1715, 5, 1715, delta, 1e-6), "REFUTED", "[5,1715]")},
		} {
			c := Of(m, []byte("x"), "p", day)
			if err := c.AddAuditText([]byte(a.text)); err != nil {
				t.Fatalf("%s: %v", a.text, err)
			}
			c.ApplyPolicy(p, policy.Facts{})
			k := c.Policy.Criteria[len(c.Policy.Criteria)-1]
			if k.Clause != "audit" || (k.Outcome == policy.Met) != a.met || !a.met && k.Outcome != policy.NotMet {
				t.Errorf("model %d, audit %d: %s", i, j, k)
			}
		}
	}
}

// The card gives the runs that were counted and the whole of the confidence.
func TestAuditWords(t *testing.T) {
	c := Of(models(t)[0], []byte("x"), "p", day)
	if err := c.AddAuditText([]byte(`{"subject":"learner additive on 100 rows","claim":1,"delta":0,"lower_bound":0,` +
		`"confidence":0.999999,"runs":2014,"verdict":"not refuted","counts":[1666,1672],"counted_runs":1715}`)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := c.WriteHTML(&b); err != nil || !strings.Contains(b.String(), "The results of 1715 runs show, with 99.9999 % confidence") {
		t.Errorf("error %v:\n%s", err, b.String())
	}
}

func TestAboutIsComplete(t *testing.T) {
	parse := func(pairs ...string) error {
		a, err := About(nil).Parse(pairs)
		if err == nil {
			err = a.checkRecord()
		}
		return err
	}
	if err := parse(append(slices.Clone(about), "sector=Healthcare", "notes=none", "retention=2 years")...); err != nil {
		t.Error(err)
	}
	for i := range about {
		if parse(slices.Delete(slices.Clone(about), i, i+1)...) == nil {
			t.Errorf("without %s: no error", about[i])
		}
	}
	for _, bad := range []string{"sector=Magic", "curator=again", "mood=good", "notes", "trained=in May"} {
		if parse(append(slices.Clone(about), bad)...) == nil {
			t.Errorf("with %s: no error", bad)
		}
	}
	if parse(append(slices.Clone(about[:4]), "published=May")...) == nil {
		t.Error("a date that is none")
	}
}

// What the organisation says of a model stands on its card, from a file or from flags, and what it leaves open, too.
func TestCardsNameWhoIsResponsible(t *testing.T) {
	path := filepath.Join(t.TempDir(), "about.yaml")
	if err := os.WriteFile(path, []byte("curator: City hospital\nretention: two years\ntrained: 2026-04-30\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ReadAbout(path)
	if err == nil {
		a, err = a.Parse([]string{"recipients=the wards"})
	}
	if err != nil {
		t.Fatal(err)
	}
	m := models(t)[0]
	c, _ := cardOf(t, m)
	plain := write(t, c.WriteHTML)
	c.About = a
	full, facts := write(t, c.WriteHTML), write(t, c.WriteYAML)
	for _, word := range []string{"Controller", "City hospital", "two years", "the wards", "2026-04-30, as the author"} {
		if !strings.Contains(full, word) || strings.Contains(plain, word) {
			t.Errorf("a card with what is known of it has %q, or one without has it", word)
		}
	}
	if !strings.Contains(full, "purpose, number of people") || !strings.Contains(plain, "controller, purpose, recipients, retention") {
		t.Error("what is left open is not named")
	}
	text, err := m.Schema.MarshalJSON()
	if err != nil || !strings.Contains(facts, fmt.Sprintf("schema_sha256: %x", sha256.Sum256(append(text, '\n')))) ||
		!strings.Contains(facts, "recipients: the wards") {
		t.Errorf("the facts lack the schema's hash or what is known: %v\n%s", err, facts)
	}
	if err := os.WriteFile(path, []byte("- CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAbout(path); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("a file of something else: %v", err)
	}
}

func write(t *testing.T, to func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := to(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whoever is protected with all rows is not said to be protected less for having several.
func TestPersonsAreTheUnit(t *testing.T) {
	c, _ := cardOf(t, models(t)[0])
	text, unit := c.describeNeighbours(), c.describeUnit()
	if !strings.Contains(text, "for k rows, k times epsilon") || unit != c.Unit {
		t.Errorf("of rows: %s (%s)", text, unit)
	}
	c.privacy.Claim += model.PersonClaim
	text, unit = c.describeNeighbours(), c.describeUnit()
	if strings.Contains(text, "for k rows") || !strings.Contains(unit, "one person") {
		t.Errorf("of persons: %s (%s)", text, unit)
	}
}
