// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/audit"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// attacking is the flags of the command.
type attacking struct {
	*app
	choice  *choice
	claim   string
	data    []string
	schema  string
	targets int
	runs    int
	out     string
	json    bool
	exceed  bool
}

// attackResult is what attack prints for programs.
type attackResult struct {
	Learner    string       `json:"learner"`
	Epsilon    float64      `json:"epsilon"` // of the claim; 0 where there is none
	Delta      json.Number  `json:"delta"`
	Protects   dp.Scope     `json:"protects"`
	Rows       int          `json:"rows"`
	Runs       int          `json:"runs"` // measured trainings
	Taught     int          `json:"taught"`
	LowerBound float64      `json:"lower_bound"` // on ε
	Confidence float64      `json:"confidence"`
	Verdict    string       `json:"verdict"`
	Private    bool         `json:"private"` // always false: these numbers tell about the rows
	Kinds      []attackKind `json:"kinds"`
}

type attackKind struct {
	Name    string      `json:"name"`
	Targets int         `json:"targets"`
	Loss    attackCurve `json:"loss_threshold"`
	Ratio   attackCurve `json:"likelihood_ratio"`
}

type attackCurve struct {
	AUC       interval      `json:"auc"`
	Advantage interval      `json:"advantage"`
	Points    []attackPoint `json:"points"`
}

type attackPoint struct {
	FPR     interval `json:"fpr"`
	TPR     interval `json:"tpr"`
	Allowed *float64 `json:"allowed_tpr"` // null without a claim
}

type interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (a *app) attack() *cobra.Command {
	t := &attacking{app: a}
	c := &cobra.Command{
		Use:   "attack",
		Short: "infer who was in the table, and compare with what ε allows (not private)",
		Long: `Attack plays membership inference against a training. Before each of many
trainings a coin decides for every target row whether its protected part is in
the table or another part takes its place (under add-remove: whether the row is
there at all); the attacker then looks at the model and guesses the coin. He
knows all rows, both parts and half of the trainings with their coins, and from
these learns, row by row, how confident models are in either world (LiRA, Carlini
et al. 2022); a single threshold on the confidence is measured beside it. Half of
the targets are rows as they are, half are rows made to stand out.

Printed are the area under the curve, the advantage and true positive rates at
low false positive rates, with 95 % intervals over trainings, beside the most
that (ε, δ) allows any attacker, and a lower bound on ε from the most exposed row
that holds with confidence 0.999999. Little success is no proof: the guarantee
is. Much success where the guarantee allows none is a REFUTED claim.

A guarantee for the private columns hides these columns, not that somebody is in
the table; then it is the columns that are inferred.

What it prints is exact and so NOT PRIVATE, and its trainings are counted in no
ledger: keep it where the rows may be seen. It refuses without --not-private.`,
		Example: `  discreet attack --data census.csv --schema census.yaml --learner additive --epsilon 1 --not-private
  discreet attack --data a.csv --schema s.yaml --learner logistic --targets 200 --runs 1000 --out roc.svg --json --not-private`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.run(c.Context()) },
	}
	t.choice = addChoice(c)
	c.Flags().Lookup("not-private").Usage = "the numbers may tell about the rows of the table"
	c.Flags().Lookup("epsilon").Usage = "the privacy loss ε of each training, a `number`; left out for learners without privacy"
	c.Flags().StringVar(&t.claim, "claim", "", "the ε to compare with, a `number`; left out for that of --epsilon")
	c.Flags().StringArrayVar(&t.data, "data", nil, "a `file` of the table, CSV (also gzip) or Parquet; - is standard input; may be repeated")
	c.Flags().StringVar(&t.schema, "schema", "", "the schema `file` of the table")
	c.Flags().IntVar(&t.targets, "targets", 50, "how many rows of each kind are attacked, a `number`")
	c.Flags().IntVar(&t.runs, "runs", 400, "how many trainings, a `number`; half teach the attacker")
	c.Flags().StringVar(&t.out, "out", "", "the .svg or .png `file` to draw true against false positive rates to")
	c.Flags().BoolVar(&t.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&t.exceed, "exceed-max-epsilon", false, "attack although the schema declares a max_epsilon")
	cli.Require(c, "data", "schema")
	return c
}

func (t *attacking) run(ctx context.Context) error {
	req, claim, err := t.check()
	if err != nil {
		return err
	}
	s, err := schema.Load(t.schema)
	if err != nil {
		return err
	}
	if excess := (train.Price{NotPrivate: true}).Excess(s); excess != "" && !t.exceed {
		return &cli.BudgetError{Err: fmt.Errorf("attack: %s; only --exceed-max-epsilon goes beyond it", excess)}
	}
	if _, err := req.Plan(s, 0); err != nil { // before any row is read
		return usage(err)
	}
	if t.out != "" {
		if err := cli.CheckWritable(t.out); err != nil {
			return err
		}
	}
	tab, err := t.table(ctx, s, t.data)
	if err != nil {
		return err
	}
	rows := tab.Rows
	if s.Relation == dp.AddRemove {
		rows = 0 // the plan must not know how many are left out
	}
	pl, err := req.Plan(s, rows)
	if err != nil {
		return usage(err)
	}
	report, done := t.ShowRuns("training")
	r, err := audit.AttackMembership(ctx, pl, tab, audit.Membership{Epsilon: claim.Epsilon, Delta: claim.Delta, Targets: t.targets, Runs: t.runs, Progress: report})
	done()
	if err != nil {
		return refused(err)
	}
	if t.out != "" {
		if err := drawAttack(t.out, req.Name, r); err != nil {
			return err
		}
	}
	if t.json {
		return cli.WriteJSON(t.Stdout, newAttackResult(req.Name, tab.Rows, r))
	}
	return writeAttack(t.Stdout, req.Name, tab.Rows, r)
}

// check reads the flags: what to train, and the claim to compare with.
func (t *attacking) check() (req *train.Request, claim dp.Price, err error) {
	bad := func(param, want string, got any) (*train.Request, dp.Price, error) {
		return nil, claim, &cli.UsageError{Err: &dp.ParamError{Op: "attack", Param: param, Want: want, Got: got}}
	}
	ext := filepath.Ext(t.out)
	switch {
	case !t.choice.price.NotPrivate:
		return bad("not-private", "must be given: what an attack finds is exact and tells about the rows", nil)
	case t.targets < 1:
		return bad("targets", "must be at least 1", t.targets)
	case t.runs < audit.MinMembershipRuns:
		return bad("runs", fmt.Sprintf("must be at least %d", audit.MinMembershipRuns), t.runs)
	case t.out != "" && ext != ".svg" && ext != ".png":
		return bad("out", "must end in .svg or .png", t.out)
	}
	// --not-private speaks of the report; whether the training is private is for
	// the learner and --epsilon to say.
	t.choice.price.NotPrivate = false
	for _, l := range train.Learners() {
		if l.Name == t.choice.name && !l.Private || strings.EqualFold(t.choice.price.Epsilon, "inf") {
			t.choice.price.NotPrivate = true
		}
	}
	if req, err = t.choice.request("attack"); err != nil {
		return nil, claim, err
	}
	claim = dp.Price{Epsilon: req.Price.Epsilon, Delta: req.Price.Delta}
	if t.claim != "" {
		if claim.Epsilon, err = dp.ParseEpsilon(t.claim); err != nil {
			return nil, claim, &cli.UsageError{Err: err}
		}
	}
	return req, claim, nil
}

func newAttackResult(learner string, rows int, r *audit.MembershipReport) attackResult {
	out := attackResult{Learner: learner, Epsilon: r.Claim.Epsilon.Float(), Delta: json.Number(r.Claim.Delta.String()), Protects: r.Scope,
		Rows: rows, Runs: r.Runs, Taught: r.Taught, LowerBound: r.Bound, Confidence: r.Confidence, Verdict: r.Verdict}
	for _, k := range r.Kinds {
		out.Kinds = append(out.Kinds, attackKind{k.Name, k.Targets, newAttackCurve(k.Loss, r.Claim), newAttackCurve(k.Ratio, r.Claim)})
	}
	return out
}

func newAttackCurve(c audit.Curve, claim dp.Price) attackCurve {
	out := attackCurve{AUC: interval(c.AUC), Advantage: interval(c.Advantage)}
	for _, p := range c.Points {
		q := attackPoint{FPR: interval(p.FPR), TPR: interval(p.TPR)}
		if claim.Epsilon > 0 {
			most := audit.MostTPR(claim.Epsilon.Float(), claim.Delta.Float(), p.FPR.Value)
			q.Allowed = &most
		}
		out.Points = append(out.Points, q)
	}
	return out
}

func writeAttack(w io.Writer, learner string, rows int, r *audit.MembershipReport) error {
	var b strings.Builder
	eps, delta := r.Claim.Epsilon.Float(), r.Claim.Delta.Float()
	claimed := r.Claim.Epsilon > 0
	fmt.Fprintf(&b, "membership inference against learner %s: %d rows, %d trainings measured after %d that taught\n", learner, rows, r.Runs, r.Taught)
	fmt.Fprintf(&b, "inferred: %s of a row\n\n%-24s", r.Scope.Words(), "")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, " %-27s", fmt.Sprintf("%d %s", k.Targets, k.Name))
	}
	if claimed {
		b.WriteString(" allowed")
	}
	line := func(name string, allowed float64, of func(k audit.Kind) audit.Interval) {
		fmt.Fprintf(&b, "\n%-24s", name)
		for n, k := range r.Kinds {
			i := of(k)
			text := fmt.Sprintf("%.4f (%.4f to %.4f)", i.Value, i.Low, i.High)
			if claimed || n+1 < len(r.Kinds) {
				text = fmt.Sprintf("%-27s", text)
			}
			b.WriteString(" " + text)
		}
		if claimed {
			fmt.Fprintf(&b, " %.4f", allowed)
		}
	}
	line("AUC, one threshold", audit.MostAUC(eps, delta), func(k audit.Kind) audit.Interval { return k.Loss.AUC })
	line("AUC, likelihood ratio", audit.MostAUC(eps, delta), func(k audit.Kind) audit.Interval { return k.Ratio.AUC })
	line("advantage", audit.MostAdvantage(eps, delta), func(k audit.Kind) audit.Interval { return k.Ratio.Advantage })
	for i, f := range audit.Rates {
		line(fmt.Sprintf("TPR at FPR %g %%", 100*f), audit.MostTPR(eps, delta, f), func(k audit.Kind) audit.Interval { return k.Ratio.Points[i].TPR })
	}
	b.WriteString("\n\nThresholds come from the trainings that taught; false positive rates are those met there.\n")
	fmt.Fprintf(&b, "most exposed row: epsilon >= %.4g with confidence %.9g", r.Bound, r.Confidence)
	if claimed {
		fmt.Fprintf(&b, "; claimed %s: %s", r.Claim, r.Verdict)
	}
	b.WriteString("\nNOT PRIVATE: this report was computed from the rows without noise\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// drawAttack draws what the likelihood ratio finds, and what the claim allows.
func drawAttack(path, learner string, r *audit.MembershipReport) error {
	fig := plot.Lines{
		Title:    fmt.Sprintf("Membership inference against %s", learner),
		Subtitle: fmt.Sprintf("%d trainings measured, %s", r.Runs, r.Claim),
		XLabel:   "false positive rate",
		YLabel:   "true positive rate",
		LogX:     true, XTicks: []float64{0.001, 0.01, 0.1, 0.5}, YFrom: 0, YTo: 1,
		Spread: "95 % intervals over trainings",
		Note:   "Not private: computed from the rows without noise.",
	}
	if r.Claim.Epsilon == 0 {
		fig.Subtitle = fmt.Sprintf("%d trainings measured, no claim", r.Runs)
	}
	for _, k := range r.Kinds {
		s := plot.Series{Name: strings.TrimPrefix(k.Name, "rows ")}
		for _, p := range k.Ratio.Points {
			s.X, s.Y = append(s.X, p.Rate), append(s.Y, p.TPR.Value)
			s.Low, s.High = append(s.Low, p.TPR.Low), append(s.High, p.TPR.High)
		}
		fig.Series = append(fig.Series, s)
	}
	guess := plot.Series{Name: "guessing"}
	most := plot.Series{Name: "allowed"}
	for _, f := range audit.Rates {
		guess.X, guess.Y = append(guess.X, f), append(guess.Y, f)
		most.X, most.Y = append(most.X, f), append(most.Y, audit.MostTPR(r.Claim.Epsilon.Float(), r.Claim.Delta.Float(), f))
	}
	fig.Series = append(fig.Series, guess)
	if r.Claim.Epsilon > 0 {
		fig.Series = append(fig.Series, most)
	}
	return cli.WriteFile(path, func(w io.Writer) error {
		if filepath.Ext(path) == ".png" {
			return fig.WritePNG(w)
		}
		return fig.WriteSVG(w)
	})
}
