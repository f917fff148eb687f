// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// earlier unpacks a ledger that the program of 2026-11-24 (3b7b5436021c) wrote, before there were
// cohorts and roles: data set clinics, ε = 1 and δ = 1e-6 by parts, with a model of ε = 0.3 on north, one
// of 0.2 on south and one of 0.1 on all; and data set plain, ε = 2, with a training of ε = 0.01 that was
// killed after it had begun.
func earlier(t testing.TB) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "2026-11-24.db.gz"))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	b, err := io.ReadAll(z)
	must(t, err)
	path := filepath.Join(t.TempDir(), "ledger.db")
	must(t, os.WriteFile(path, b, 0o600))
	return path
}

const earlierHead = "184be8b0e53412dc929344c939950d6e13958e3f142976f3ce6fe9d2cb6d9560"

// A ledger of an earlier program is what it was, goes on, and takes cohorts and an owner.
func TestEarlierLedgersGoOn(t *testing.T) {
	t.Parallel()
	path, ctx := earlier(t), t.Context()
	before, err := os.ReadFile(path)
	must(t, err)
	l, err := Open(ctx, path)
	must(t, err)
	defer l.Close()
	if h := verify(t, l); h != (Head{17, earlierHead}) {
		t.Fatalf("head %+v", h)
	}
	bs, err := l.Balances(ctx)
	must(t, err)
	clinics, plain := bs[0], bs[1]
	if len(bs) != 2 || clinics.Spent != 400_000_000 || clinics.Left != 600_000_000 || len(clinics.ByPart) != 2 ||
		clinics.ByPart[0].Left.Epsilon != 600_000_000 || clinics.ByPart[1].Left.Epsilon != 700_000_000 ||
		plain.Spent != 10_000_000 {
		t.Fatalf("balances %+v", bs)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("reading a ledger has changed it")
	}
	report, err := l.Report(ctx, "clinics")
	must(t, err)
	if len(report) != 3 || report[0].State != Published || report[0].SHA256 == "" || report[0].By != "" {
		t.Errorf("report %+v", report)
	}

	// It goes on by its old rules, and an earlier program still reads it.
	if got, err := l.Recover(ctx, all); err != nil || len(got) != 1 || got[0].Now != Closed {
		t.Errorf("%+v, %v", got, err)
	}
	terms := func(req Request) Request {
		req.Dataset = "clinics"
		req.Terms = Terms{Unit: "one patient", Relation: dp.ReplaceOne, Protected: []string{"age", "ill"}}
		return req
	}
	south := terms(request("more"))
	south.Part, south.PartsBy, south.Definition = "south", clinics.Parts.By, clinics.Parts.Definition
	must(t, spend(l, south, 700_000_000))
	var exceeded *Exceeded
	if err := spend(l, terms(request("all2")), 1); !errors.As(err, &exceeded) {
		t.Errorf("more than is left: %v", err)
	}
	if got := formatOf(t, l); got != format {
		t.Errorf("a ledger without cohorts and owners has format %d", got)
	}

	// Cohorts and an owner make it one that an earlier program refuses.
	must(t, l.Declare(ctx, Dataset{Name: "members", Epsilon: 10, CohortBy: "entry"}))
	cohorts := onCohorts("first", "2027-01")
	cohorts.Dataset = "members"
	must(t, spend(l, cohorts, 10))
	must(t, l.Appoint(ctx, ownerKey, Appointment{Dataset: "plain", Role: Owner, Name: "o", Key: public(ownerKey)}))
	must(t, l.Allot(ctx, ownerKey, Allotment{Dataset: "plain", Name: "bob", Key: public(bobKey),
		Price: dp.Price{Epsilon: 2*dp.Nano - 10_000_000}}))
	if got := formatOf(t, l); got != formatCohorts {
		t.Errorf("a ledger with cohorts and owners has format %d", got)
	}
	old := Head{17, earlierHead}
	if _, err := l.Verify(ctx, &old); err != nil {
		t.Errorf("the head of the earlier ledger: %v", err)
	}
}

// formatOf is the version of a ledger's tables.
func formatOf(t testing.TB, l *Ledger) (v int) {
	t.Helper()
	must(t, l.store.(*noticedStore).store.view(t.Context(), func(x tx) error {
		_, err := x.(*sqlTx).Find([]any{&v}, `SELECT format FROM discreet_head`)
		return err
	}))
	return v
}
