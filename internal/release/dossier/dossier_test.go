// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/release/card"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

const program = "discreet v1.0.0, go1.26, linux/amd64"

var (
	now       = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ours      = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	theirs    = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	trusted   = []ed25519.PublicKey{ours.Public().(ed25519.PublicKey)}
	auditText = []byte(`{"subject":"brc","claim":1,"lower_bound":0.34018835663500646,"confidence":0.95,"runs":500,` +
		`"verdict":"not refuted","counts":[150,80],"counted_runs":250}`)
	attackText = []byte(`{"learner":"additive","epsilon":1,"delta":0,"rows":200,"runs":400,"taught":200,"lower_bound":0.1,` +
		`"confidence":0.999999,"verdict":"not refuted","private":false,"kinds":[{"name":"rows as they are","targets":50,` +
		`"likelihood_ratio":{"auc":{"value":0.51},"advantage":{"value":0.02},"points":[{"tpr":{"value":0.001}},` +
		`{"tpr":{"value":0.004}}]}}]}`)
)

// evaluationOf is the report of a private evaluation by group of a model's file.
func evaluationOf(file []byte) []byte {
	return fmt.Appendf(nil, `{"private":true,"model_sha256":"%x","epsilon":0.5,"delta":0,"confidence":0.95,"counted":true,"by":"sex",`+
		`"accuracy":0.81,"accuracy_interval":[0.79,0.84],"auc":null,"auc_interval":[0,1],"groups":[{"group":"female","told":true,`+
		`"accuracy":0.8,"accuracy_interval":[0.75,0.85]},{"group":"other","told":false}]}`, sha256.Sum256(file))
}

// trainModel trains a small model and returns its file.
func trainModel(t testing.TB, learner, epsilon, delta string, job *train.Job) []byte {
	t.Helper()
	choice := train.Choice{Learner: learner, Price: train.PriceText{Epsilon: epsilon, Delta: delta}}
	if epsilon == "" {
		choice.Price.NotPrivate = true
	}
	req, err := choice.Request("train")
	if err != nil {
		t.Fatal(err)
	}
	run := train.Training{Op: "train", Request: req, Schema: census.Schema(), Exceed: true, Job: job,
		Read: func(context.Context) (*dataset.Table, error) { return censustest.Table(1, 200), nil }}
	m, err := run.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// newLedger is a ledger with one data set, d.
func newLedger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Anchor(t.Context(), anchor.Folder(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	if err := l.Declare(t.Context(), ledger.Dataset{Name: "d", Epsilon: 30 * dp.Nano, Delta: dp.Femto / 1000,
		Note: "set by <the board> & others"}); err != nil {
		t.Fatal(err)
	}
	return l
}

// makeRelease makes a release and reads it back.
func makeRelease(t testing.TB, p Params, file []byte) ([]byte, *release.Release) {
	t.Helper()
	p.Program, p.Now = program, now
	archive, err := p.Make(t.Context(), file, ours)
	if err != nil {
		t.Fatal(err)
	}
	r, err := release.Open(archive, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return archive, r
}

// TestEveryModelIsReleased: models of every price and scope, with a ledger and without, are released
// and verified, by the same version and by another.
func TestEveryModelIsReleased(t *testing.T) {
	for _, c := range []struct{ learner, epsilon, delta string }{{"additive", "1", "0"}, {"brc", "0.5", "0"},
		{"additive", "1", "1e-6"}, {"erm", "20", "0"}, {"logistic", "", "0"}} {
		name := c.learner + " at " + c.epsilon
		for _, counted := range []bool{false, true} {
			p := Params{Exports: []string{"onnx", "pmml", "sql"}, Audit: auditText}
			var job *train.Job
			if counted {
				if c.epsilon == "" {
					continue
				}
				p.Ledger = newLedger(t)
				job = &train.Job{Ledger: p.Ledger, Dataset: "d"}
			}
			file := trainModel(t, c.learner, c.epsilon, c.delta, job)
			_, r := makeRelease(t, p, file)
			for _, by := range []string{program, "discreet v2.0.0, go1.30, plan9/arm"} {
				v, err := Judge(r, by)
				if err != nil {
					t.Fatalf("%s, counted %v: %v", name, counted, err)
				}
				if v.Rewritten != (by == program) || (v.Trained != "") != counted || v.Made != "2026-05-01T12:00:00Z" {
					t.Errorf("%s: %+v", name, v)
				}
				words := v.Words("trusted.pub", dp.Step.String)
				for want, has := range map[string]bool{"epsilon = " + string(v.Epsilon): c.epsilon != "",
					"NOT PRIVATE": c.epsilon == "", "NOT COUNTED": !counted, "a check of the ledger for": counted,
					"Another version": by != program, "reports of audits": true, "Not proved here": true, "rows": true} {
					if strings.Contains(words, want) != has {
						t.Errorf("%s, counted %v: must say %q: %v\n%s", name, counted, want, has, words)
					}
				}
			}
		}
	}
}

// insider is a release that a holder of the trusted key makes, of parts that do not fit.
type insider struct {
	files map[string][]byte
	said  predicate
}

// take takes a release apart.
func take(t testing.TB, r *release.Release) *insider {
	t.Helper()
	in := &insider{files: map[string][]byte{}}
	for _, f := range r.Files {
		in.files[f.Name] = bytes.Clone(f.Data)
	}
	if err := r.DecodePredicate(&in.said); err != nil {
		t.Fatal(err)
	}
	return in
}

// sign makes a release of the parts.
func (in *insider) sign(t testing.TB) []byte {
	t.Helper()
	var files []release.File
	for name, data := range in.files {
		files = append(files, release.File{Name: name, Data: data})
	}
	archive, err := release.Write(files, in.said, ours)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// judge signs the parts and judges them.
func (in *insider) judge(t testing.TB, by string) error {
	t.Helper()
	r, err := release.Open(in.sign(t), trusted)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Judge(r, by)
	return err
}

// forgery is what the holder of a key may try.
type forgery struct {
	forge func(*insider)
	want  string // of the error
	any   bool   // refused by every version of the program, not by the one alone that wrote the texts
}

// forgeries is a release and what is done to its parts.
func forgeries(t testing.TB) (*release.Release, map[string]forgery) {
	t.Helper()
	l := newLedger(t)
	file := trainModel(t, "additive", "1", "0", &train.Job{Ledger: l, Dataset: "d"})
	p := Params{Ledger: l, Exports: []string{"onnx"}, Audit: auditText, Attack: attackText, Evaluation: evaluationOf(file)}
	_, good := makeRelease(t, p, file)
	otherFile := trainModel(t, "additive", "2", "0", &train.Job{Ledger: l, Dataset: "d"})
	p.Evaluation = evaluationOf(otherFile)
	_, otherRelease := makeRelease(t, p, otherFile)
	other := take(t, otherRelease)
	// A ledger that charged less than the model says it cost.
	cheap := newLedger(t)
	job, err := cheap.Job(t.Context(), ledger.Request{Dataset: "d", ID: "cheap", Config: []byte("{}"),
		Terms: ledger.Terms{Unit: "one person", Relation: dp.ReplaceOne, Protected: []string{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	bill := []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: dp.Nano / 2}}
	if err := job.Charge(t.Context(), dp.Pure(bill), bill); err != nil {
		t.Fatal(err)
	}
	if err := job.Commit(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	swap := func(name string) func(*insider) { return func(in *insider) { in.files[name] = other.files[name] } }
	edit := func(name, from, to string) func(*insider) {
		return func(in *insider) {
			if !bytes.Contains(in.files[name], []byte(from)) {
				t.Fatalf("%s does not hold %q", name, from)
			}
			in.files[name] = bytes.Replace(in.files[name], []byte(from), []byte(to), 1)
		}
	}
	drop := func(name string) func(*insider) { return func(in *insider) { delete(in.files, name) } }
	const always, sameWords = true, false // whatever the version of who verifies, or the same one alone
	return good, map[string]forgery{
		"swapped model": {func(in *insider) { swap(release.ModelName)(in); swap(release.EvaluationName)(in) },
			"the ledger's entries must hold this model", always},
		"swapped page of the card":  {swap(release.CardName), "card.html must", always},
		"swapped statement":         {swap(release.StatementName), "statement.txt must", always},
		"swapped entries":           {swap(release.LedgerName), "entries must hold this model", always},
		"swapped export":            {swap("model.onnx"), "model.onnx must", sameWords},
		"another schema":            {edit(release.SchemaName, `"private"`, `"public"`), "schema.json must", always},
		"no statement":              {drop(release.StatementName), "statement.txt must be in the release", always},
		"no card":                   {drop(release.CardName), "card.html must be in the release", always},
		"no model":                  {drop(release.ModelName), "must have a model", always},
		"no entries":                {drop(release.LedgerName), "must not name a ledger", always},
		"no report":                 {drop(release.AuditName), "facts of the card", always},
		"no evaluation":             {drop(release.EvaluationName), "facts of the card", always},
		"swapped evaluation":        {swap(release.EvaluationName), "evaluation must be of this model", always},
		"a better evaluation":       {edit(release.EvaluationName, "0.81", "0.82"), "facts of the card", always},
		"an impossible evaluation":  {edit(release.EvaluationName, "0.81", "0.99"), "each estimate in its interval", always},
		"an impossible group":       {edit(release.EvaluationName, "0.8,", "0.74,"), "each estimate in its interval", always},
		"a better group":            {edit(release.EvaluationName, "[0.75,", "[0.79,"), "facts of the card", always},
		"a group that is told":      {edit(release.EvaluationName, `"told":false`, `"told":true`), "facts of the card", always},
		"a report without its root": {drop(release.AttackName), "sacro.json must have the report", always},
		"no report for SACRO-ML":    {drop(release.SacroName), "sacro.json must be in the release", always},
		"epsilon on the page":       {edit(release.CardName, "epsilon = 1", "epsilon = 0.1"), "card.html must", always},
		"words of the page":         {edit(release.CardName, "becomes at most", "becomes at least"), "card.html must", sameWords},
		"epsilon in the statement":  {edit(release.StatementName, "epsilon = 1 ", "epsilon = 0.5 "), "statement.txt must", always},
		"another bound in a report": {edit(release.AuditName, "0.340", "0.240"), "numbers agree with each other", always},
		"a report of one run":       {edit(release.AuditName, `"runs":500`, `"runs":1`), "numbers agree with each other", always},
		"another claim in a report": {edit(release.AuditName, `"claim":1`, `"claim":9`), "facts of the card", always},
		"an attack's higher bound":  {edit(release.AttackName, `"lower_bound":0.1`, `"lower_bound":3`), "numbers agree with each other", always},
		"another epsilon in an entry": {edit(release.LedgerName, `"epsilon_nano":1000000000`, `"epsilon_nano":500000000`),
			"what their hashes say", always},
		"another total in an entry": {edit(release.LedgerName, `"epsilon_nano":30000000000`, `"epsilon_nano":90000000000`),
			"what their hashes say", always},
		"entries in another order": {func(in *insider) {
			lines := bytes.SplitAfter(in.files[release.LedgerName], []byte("\n"))
			in.files[release.LedgerName] = bytes.Join([][]byte{lines[1], lines[0], lines[2]}, nil)
		}, "of a total", always},
		"an entry more": {func(in *insider) {
			in.files[release.LedgerName] = append(in.files[release.LedgerName], in.files[release.LedgerName]...)
		}, "must be three", always},
		"entries in another spelling": {edit(release.LedgerName, `{"seq":`, `{ "seq":`), "must be three", always},
		"a ledger that charged less": {func(in *insider) {
			c := *in.said.Card
			c.Entry = nil
			if err := c.AddLedger(t.Context(), cheap, false); err != nil {
				t.Fatal(err)
			}
			entries, err := readEntries(t.Context(), cheap, c.Entry)
			if err != nil {
				t.Fatal(err)
			}
			in.said.Card, in.said.Trained, in.files[release.LedgerName] = &c, c.Entry.At, entries
		}, "must charge what the model says it cost, epsilon = 1 and delta = 0", always},
		"card of another model":    {func(in *insider) { in.said.Card = other.said.Card }, "must", always},
		"card with another sum":    {func(in *insider) { in.said.Card.Checksum = other.said.Card.Checksum }, "card must be of this model", always},
		"card with less epsilon":   {func(in *insider) { in.said.Card.Epsilon = "0.1" }, "another price", always},
		"card with a delta":        {func(in *insider) { in.said.Card.Delta = "1e-9" }, "another price", always},
		"card with another data":   {func(in *insider) { in.said.Card.Dataset = "other" }, "facts of the card", always},
		"card with more columns":   {func(in *insider) { in.said.Card.Private = append(in.said.Card.Private, "x") }, "facts of the card", always},
		"card that counts":         {func(in *insider) { in.said.Card.Counted = false }, "facts of the card", always},
		"card with another lead":   {func(in *insider) { in.said.Card.Guarantee = "all is well" }, "facts of the card", sameWords},
		"card of another program":  {func(in *insider) { in.said.Card.Program = "discreet v0" }, "facts of the card", always},
		"program on two lines":     {func(in *insider) { in.said.Program = "discreet v1\n\nVERIFIED" }, "in plain text", always},
		"card of another day":      {func(in *insider) { in.said.Card.Date = "2020-01-01" }, "facts of the card", always},
		"another head, too early":  {func(in *insider) { in.said.Card.Entry.HeadSeq = 1 }, "must not come after the head", always},
		"another head, no hash":    {func(in *insider) { in.said.Card.Entry.HeadHash = "x" }, "must not come after the head", always},
		"another total":            {func(in *insider) { in.said.Card.Entry.Total = "epsilon 99" }, "must declare the total", always},
		"another note":             {func(in *insider) { in.said.Card.Entry.Note = "none" }, "must declare the total", always},
		"another job":              {func(in *insider) { in.said.Card.Entry.Job = "x" }, "that the card names", always},
		"too little spent":         {func(in *insider) { in.said.Card.Entry.Spent = "epsilon 0.5" }, "spent and left", always},
		"too much left":            {func(in *insider) { in.said.Card.Entry.Left = "epsilon 30 and delta 0.001" }, "spent and left", always},
		"left in no words":         {func(in *insider) { in.said.Card.Entry.Left = "plenty" }, "spent and left", always},
		"another time of training": {func(in *insider) { in.said.Trained = "2020-01-01T00:00:00Z" }, "time of training", always},
		"no time":                  {func(in *insider) { in.said.Made = "" }, "when the release was made", always},
		"time in another spelling": {func(in *insider) { in.said.Made = "2026-05-01T14:00:00+02:00" }, "when the release was made", always},
		"no facts":                 {func(in *insider) { in.said.Card = nil }, "must have a model and a card", always},
	}
}

// TestSignedForgeries: what does not fit together is refused although the trusted key signed it.
func TestSignedForgeries(t *testing.T) {
	good, all := forgeries(t)
	for name, f := range all {
		for _, by := range []string{program, "discreet v2.0.0, go1.30, plan9/arm"} {
			if by != program && !f.any {
				continue
			}
			in := take(t, good)
			f.forge(in)
			if err := in.judge(t, by); err == nil || !strings.Contains(err.Error(), f.want) {
				t.Errorf("%s, judged by %s: must be refused with %q, got %v", name, by, f.want, err)
			}
		}
	}
	if err := take(t, good).judge(t, program); err != nil {
		t.Errorf("what is not forged is refused: %v", err)
	}
}

// TestPolicyIsJudgedAgain: what the release shows, verify judges itself, whatever the card says.
func TestPolicyIsJudgedAgain(t *testing.T) {
	l := newLedger(t)
	file := trainModel(t, "brc", "1", "0", &train.Job{Ledger: l, Dataset: "d"})
	var signed bytes.Buffer
	if _, err := policy.SignProject([]byte("version: 1\nnumber: 1\ndata: d\ntraining: {epsilon: \"1\"}\n"+
		"lifetime: {epsilon: \"30\", delta: \"0.001\"}\nuntil: \"2099-12-31\"\nunit: row\naudit: true\n"), ours, nil, &signed); err != nil {
		t.Fatal(err)
	}
	p := Params{Ledger: l, Policy: signed.Bytes(), Audit: bytes.Replace(auditText, []byte("brc"), []byte("learner brc, 2 rounds on 9 rows"), 1)}
	_, good := makeRelease(t, p, file)
	if err := take(t, good).judge(t, program); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{"another learner": {"learner brc", "learner erm"}, "a higher claim": {`"claim":1`, `"claim":2`},
		"a lower claim": {`"claim":1`, `"claim":0.9`}, "no learner": {"learner brc, 2 rounds on 9 rows", "brc"}} {
		bad := bytes.Replace(p.Audit, []byte(edit[0]), []byte(edit[1]), 1)
		in := take(t, good)
		in.files[release.AuditName] = bad
		if err := in.judge(t, program); err == nil || !strings.Contains(err.Error(), "one that the release's policy allows") {
			t.Errorf("%s: verify says %v", name, err)
		}
		q := p
		q.Audit, q.Program, q.Now = bad, program, now
		if _, err := q.Make(t.Context(), file, ours); err == nil || !strings.Contains(err.Error(), "policy number 1, audit: ") {
			t.Errorf("%s: release says %v", name, err)
		}
	}
	in := take(t, good)
	delete(in.files, release.AuditName)
	in.said.Card.Audit = nil
	if err := in.judge(t, program); err == nil || !strings.Contains(err.Error(), "one that the release's policy allows") {
		t.Errorf("without the report, on the card's word: %v", err)
	}
	// The words of a criterion are those of a version, and its outcome is of each.
	in = take(t, good)
	in.said.Card.Policy.Criteria[0].Asks = "no more than epsilon = 1"
	if same, other := in.judge(t, program), in.judge(t, "discreet v2.0.0, go1.30, plan9/arm"); same == nil || other != nil {
		t.Errorf("other words: the same version says %v, another %v", same, other)
	}
	in.said.Card.Policy.Criteria[0].Outcome = policy.NotMet
	if err := in.judge(t, "discreet v2.0.0, go1.30, plan9/arm"); err == nil {
		t.Error("another outcome is verified by another version")
	}
}

// TestSeededModelsAreNotReleased: neither made nor verified.
func TestSeededModelsAreNotReleased(t *testing.T) {
	file := trainModel(t, "additive", "1", "0", nil)
	m, err := model.Unmarshal(file)
	if err != nil {
		t.Fatal(err)
	}
	_, r := makeRelease(t, Params{}, file)
	m.Privacy.Seeded = true
	if file, err = model.Marshal(m); err != nil {
		t.Fatal(err)
	}
	p := Params{Program: program, Now: now}
	if _, err := p.Make(t.Context(), file, ours); err == nil || !strings.Contains(err.Error(), "seeded") {
		t.Errorf("a seeded model is released: %v", err)
	}
	in := take(t, r)
	in.files[release.ModelName] = file
	if err := in.judge(t, program); err == nil || !strings.Contains(err.Error(), "seeded") {
		t.Errorf("a seeded model is verified: %v", err)
	}
}

// TestRefusesOtherLedgersAndReports: what is not about this model is refused before anything is
// written.
func TestRefusesOtherLedgersAndReports(t *testing.T) {
	file := trainModel(t, "additive", "1", "0", nil)
	for name, p := range map[string]Params{
		"another ledger": {Ledger: newLedger(t)}, "no audit": {Audit: []byte("CANARY")}, "no attack": {Attack: []byte("{}")},
		"no evaluation": {Evaluation: []byte("CANARY")}, "another's evaluation": {Evaluation: evaluationOf([]byte("x"))},
		"an exact evaluation": {Evaluation: bytes.Replace(evaluationOf(file), []byte("true"), []byte("false"), 1)},
		"no such format":      {Exports: []string{"excel"}}, "a format twice": {Exports: []string{"sql", "sql"}},
		"an audit as attack": {Attack: auditText},
	} {
		p.Program, p.Now = program, now
		if _, err := p.Make(t.Context(), file, ours); err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSacroNumbers: the report for SACRO-ML has the attack's numbers under the names that its reader
// looks for.
func TestSacroNumbers(t *testing.T) {
	text, err := writeSacro(&card.Card{Checksum: strings.Repeat("ab", 32), Learner: "additive", Epsilon: "1", Delta: "0"},
		attackText)
	if err != nil {
		t.Fatal(err)
	}
	var reports map[string]struct {
		Logger struct {
			Instances map[string]map[string]any `json:"attack_instance_logger"`
		} `json:"attack_experiment_logger"`
	}
	if err := json.Unmarshal(text, &reports); err != nil {
		t.Fatal(err)
	}
	for name, r := range reports {
		one := r.Logger.Instances["instance_0"]
		if !strings.HasPrefix(name, "LiRA Attack_") || one["AUC"] != 0.51 || one["Advantage"] != 0.02 || one["ACC"] != 0.51 ||
			one["TPR@0.1%"] != 0.001 || one["TPR@0.3%"] != 0.004 {
			t.Errorf("%s: %v", name, one)
		}
	}
}

// FuzzEntries: whatever stands in the place of entries is refused unless it is them.
func FuzzEntries(f *testing.F) {
	l := newLedger(f)
	file := trainModel(f, "additive", "1", "0", &train.Job{Ledger: l, Dataset: "d"})
	_, r := makeRelease(f, Params{Ledger: l}, file)
	m, err := model.Unmarshal(file)
	if err != nil {
		f.Fatal(err)
	}
	said := take(f, r).said.Card
	want := r.File(release.LedgerName)
	f.Add(want)
	f.Add(bytes.ToUpper(want))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := checkEntries(text, m, file, said); err == nil && !bytes.Equal(text, want) {
			t.Errorf("accepted:\n%s", text)
		}
	})
}

// FuzzPredicate: whatever the holder of the key signs as facts is refused unless it is them.
func FuzzPredicate(f *testing.F) {
	_, r := makeRelease(f, Params{Audit: auditText}, trainModel(f, "additive", "1", "0", nil))
	f.Add(r.Predicate)
	f.Fuzz(func(t *testing.T, text []byte) {
		one := &release.Release{Files: r.Files, Predicate: text}
		if v, err := Judge(one, program); err == nil && !bytes.Equal(text, r.Predicate) && v.Rewritten &&
			!bytes.Equal(mask(text), mask(r.Predicate)) {
			t.Errorf("accepted:\n%s", text)
		}
	})
}

// mask takes the time of day off, which only the holder of the key knows.
func mask(text []byte) []byte {
	var p predicate
	if json.Unmarshal(text, &p) != nil {
		return text
	}
	p.Made = ""
	out, err := json.Marshal(p)
	if err != nil {
		return text
	}
	return out
}

// TestReleasesNameNoFolders: what the ledger knows of the operator's machine stays there.
func TestReleasesNameNoFolders(t *testing.T) {
	l := newLedger(t)
	job, err := l.Job(t.Context(), ledger.Request{Dataset: "d", ID: "monday", Config: []byte("{}"), Output: "/CANARY/out.json",
		Worker: "CANARY-host", Terms: ledger.Terms{Unit: "one person", Relation: dp.ReplaceOne, Protected: []string{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	bill := []dp.Event{{Release: "r", Mechanism: "laplace", Epsilon: dp.Nano}}
	if err := job.Charge(t.Context(), dp.Pure(bill), bill); err != nil {
		t.Fatal(err)
	}
	file := trainModel(t, "additive", "1", "0", nil)
	if err := job.Commit(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	known := false
	if err := l.History(t.Context(), "d", func(e ledger.Entry) error {
		known = known || bytes.Contains(e.Detail, []byte("CANARY"))
		return nil
	}); err != nil || !known {
		t.Fatalf("the ledger names no folder (%v): the test sees nothing", err)
	}
	_, r := makeRelease(t, Params{Ledger: l}, file)
	for _, f := range append(r.Files, release.File{Name: "attestation", Data: r.Predicate}) {
		if bytes.Contains(f.Data, []byte("CANARY")) {
			t.Errorf("%s names the operator's folder or machine:\n%s", f.Name, f.Data)
		}
	}
}
