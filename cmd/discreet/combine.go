// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// combination is the flags that say how to combine, of combine and party plan.
type combination struct {
	public  string // schema of the auxiliary table
	epsilon string
	open    bool // without privacy
	params  multiparty.Params
}

func (f *combination) add(c *cobra.Command) {
	p := multiparty.Defaults()
	f.params = p
	c.Flags().StringVar(&f.public, "schema", "", "the schema `file` of the auxiliary table and the label")
	c.Flags().StringVar(&f.epsilon, "epsilon", "", "the privacy loss ε of each party, a `number`; inf only with --not-private")
	c.Flags().BoolVar(&f.open, "not-private", false, "combine without noise, for comparison")
	c.Flags().IntVar(&f.params.Parties, "parties", 0, "the `number` of parties that were asked, public, whoever answered")
	c.Flags().StringVar((*string)(&f.params.Method), "method", string(p.Method), "soft, majority, average or noisy-max")
	c.Flags().StringVar((*string)(&f.params.Form), "form", string(p.Form), "what leaves, for soft and majority: statistic or output")
	c.Flags().StringVar((*string)(&f.params.Shape), "shape", string(p.Shape), "shape of a statistic's noise: rows or ball")
	c.Flags().StringVar((*string)(&f.params.Mode), "mode", string(p.Mode), "how the noise of form output is sized: tight or printed")
	c.Flags().StringVar((*string)(&f.params.Loss), "loss", string(p.Loss), "logistic, or huber with form output")
	c.Flags().Float64Var(&f.params.Width, "width", p.Width, "half-width of the Huber-hinge's corner, a `number`")
	c.Flags().Float64Var(&f.params.Reg, "reg", 0, "ridge on the mean loss, a `number`; 0 for the rule")
	c.Flags().StringVar((*string)(&f.params.Encoding), "encoding", string(p.Encoding), "how categories become numbers: onehot or ordinal")
	c.Flags().IntVar(&f.params.Queries, "queries", 0, "how many rows noisy-max answers, a `number`")
	c.Flags().Float64Var(&f.params.Bound, "bound", p.Bound, "length that average clips coefficients to, a `number`")
	for name, words := range map[string][]string{
		"method": {"soft", "majority", "average", "noisy-max"}, "form": {"statistic", "output"}, "shape": {"rows", "ball"},
		"mode": {"tight", "printed"}, "loss": {"logistic", "huber"}, "encoding": {string(feature.OneHot), string(feature.Ordinal)},
	} {
		complete(c, name, words...)
	}
	cli.Require(c, "schema", "parties")
}

// read checks what can be checked without a schema.
func (f *combination) read(op string) error {
	bad := func(want string, got any, hint string) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: op, Param: "epsilon", Want: want, Got: got, Hint: hint}}
	}
	inf := strings.EqualFold(f.epsilon, "inf")
	switch {
	case inf != f.open && f.epsilon != "":
		return bad("may be inf only together with --not-private", f.epsilon, "")
	case f.open:
	case f.epsilon == "":
		return bad("must be given: it is the price that every party pays, and nobody else can name it", nil, "for example --epsilon 1; discreet party plan shows what it buys")
	default:
		eps, err := dp.ParseEpsilon(f.epsilon)
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		f.params.Epsilon = eps
	}
	f.params.NotPrivate = f.open
	return nil
}

// price prices the combination; rows is 0 where it is not known.
func (f *combination) price(s *schema.Schema, rows int) (*multiparty.Plan, error) {
	pl, err := f.params.Plan(s, rows)
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return nil, &cli.UsageError{Err: err}
	}
	return pl, err
}

// combine is the flags of the command.
type combine struct {
	*app
	combination
	asking
	charging
	votes          string
	aux            []string
	roster         string
	model, answers string
	inSecret       bool
	honest         int
	minimum        int
	holders        int
}

func (a *app) combine() *cobra.Command {
	t := &combine{app: a}
	c := &cobra.Command{
		Use:   "combine",
		Short: "make one classifier of many parties' votes",
		Long: `Combine reads the votes files of a folder, each to its last byte and its
signature, and makes one classifier that is private for everything that one
party holds. Party plan says what it will cost and what that buys.

soft counts each row for every level by the share of parties that voted for it;
majority gives each row the level with most votes, which one vote may turn, so
its noise is as many times larger as there are parties; average takes the mean
of logistic coefficients instead of votes; noisy-max answers rows one by one,
each for its share of epsilon.

A party that hands in nothing counts as a constant vote: whether it took part is
protected, too. --parties is how many were asked, and public.

With --secure-sum (method soft, form statistic) nobody sees a vote: each party
adds its share of the noise to one short vector, and the combiner learns the sum
alone. The noise is sized for --honest of them, and nothing is opened over fewer
than --minimum: a party takes part only if at least so many in any such sum are
honest as its operator says (party serve --peers --honest). With --ask
the parties and the --helpers, who hold the shares, are processes elsewhere; with
--votes this one plays all of them, to rehearse: what it prints and writes is what
the parties would get.

With --roster, lines of a public key and a party's name, the signatures say who
voted, and nobody else may.

With --ask the votes are fetched from parties that serve (party serve), all at
once and again and again until --wait is over; --votes then says where to keep
them. A party that does not answer, or with something else than its votes, is
absent.

With --ledger the combination is charged to a data set whose unit is a party;
noisy-max charges each answer, and stops when the budget is gone.`,
		Example: `  discreet combine --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 --model global.json
  discreet combine --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 --method majority --model global.json
  discreet combine --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 --secure-sum --honest 150 --model global.json
  discreet combine --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 5 --method noisy-max --queries 50 --answers answers.csv
  discreet combine --ask parties.txt --certs certs --as combiner/uni --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 --model global.json \
    --ledger l.db --dataset hospitals --job first
  discreet combine --ask parties.txt --certs certs --as combiner/uni --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 --model global.json \
    --secure-sum --honest 150 --helpers one=https://h1.example:8445,two=https://h2.example:8445,three=https://h3.example:8445`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.run(c) },
	}
	c.Flags().StringVar(&t.votes, "votes", "", "the `folder` of the votes files, which holds nothing else")
	c.Flags().StringArrayVar(&t.aux, "aux", nil, "a `file` of the auxiliary table, the parties' very bytes; may be repeated")
	c.Flags().StringVar(&t.roster, "roster", "", "the `file` of parties that may vote: a public key and a name on each line")
	c.Flags().StringVar(&t.model, "model", "", "the `file` to write the model to; replaced if it is there")
	c.Flags().StringVar(&t.answers, "answers", "", "with noisy-max, the CSV `file` to write answers to instead of a model")
	c.Flags().BoolVar(&t.inSecret, "secure-sum", false, "add up in secret: the combiner sees no votes; with --votes a rehearsal")
	c.Flags().IntVar(&t.honest, "honest", 0, "with --secure-sum, the `number` of parties in the sum whose noise is counted on")
	c.Flags().IntVar(&t.minimum, "minimum", 0, "with --secure-sum, the `number` of parties at least that are in the sum (default as many as --honest)")
	c.Flags().IntVar(&t.holders, "holders", 5, "with --secure-sum and --votes, the `number` of those who hold shares")
	t.combination.add(c)
	t.asking.add(c)
	t.charging.add(c, "the `name` of the data set in the ledger; its unit is party",
		"the combination's own `ID`: with the same ID parties give the same votes, and the ledger the same result (default a random one)")
	cli.Require(c, "aux")
	c.MarkFlagsOneRequired("votes", "ask")
	c.MarkFlagsMutuallyExclusive("roster", "ask")
	c.MarkFlagsMutuallyExclusive("holders", "ask")
	c.MarkFlagsOneRequired("model", "answers")
	c.MarkFlagsMutuallyExclusive("model", "answers")
	return c
}

func (t *combine) run(c *cobra.Command) error {
	ctx := c.Context()
	if err := t.read("combine"); err != nil {
		return err
	}
	if t.answers != "" && t.params.Method != multiparty.NoisyMax {
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "answers", Want: "may be given with --method noisy-max only", Got: t.answers}}
	}
	switch {
	case t.inSecret && (t.answers != "" || t.roster != ""):
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "secure-sum", Want: "must be left out with --answers and --roster: there are no votes to see", Got: true}}
	case t.inSecret && t.honest < 1:
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "honest", Want: "must be given with --secure-sum, and at least 1", Got: t.honest}}
	case t.inSecret && c.Flags().Changed("minimum") && (t.minimum < t.honest || t.minimum > t.params.Parties):
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "minimum", Want: "must be at least --honest and at most --parties", Got: t.minimum}}
	case t.inSecret && t.asking.peers != "" && t.votes != "":
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "votes", Want: "must be left out with --ask and --secure-sum: there are no votes to keep", Got: t.votes}}
	case !t.inSecret && t.honest != 0:
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "honest", Want: "must be left out without --secure-sum", Got: t.honest}}
	case !t.inSecret && t.minimum != 0:
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "minimum", Want: "must be left out without --secure-sum", Got: t.minimum}}
	}
	if err := t.asking.check(c, t.params.Method, t.inSecret); err != nil {
		return err
	}
	if err := t.checkPaying(c); err != nil {
		return err
	}
	s, err := schema.Load(t.public)
	if err != nil {
		return err
	}
	pl, err := t.price(s, 0)
	if err != nil {
		return err
	}
	for _, out := range []string{t.model, t.answers} {
		if out == "" {
			continue
		}
		if err := cli.CheckWritable(out); err != nil {
			return fmt.Errorf("combine: output %w", err)
		}
	}
	id := t.job
	if id == "" {
		id = rand.Text()
	}
	if t.answers != "" {
		return t.answerAll(ctx, id, s)
	}
	m, err := t.counted(ctx, id, pl, func(acct learn.Account) (*model.Model, error) { return t.produce(ctx, id, s, acct) })
	if err != nil {
		return err
	}
	t.Say("wrote %s", t.model)
	_, err = io.WriteString(t.Stdout, m.Privacy.Card())
	return err
}

// produce makes the model of what the parties hand in; acct is charged in
// between.
func (t *combine) produce(ctx context.Context, id string, s *schema.Schema, acct learn.Account) (m *model.Model, err error) {
	_, aux, err := t.auxiliary(ctx, s, t.aux)
	if err != nil {
		return nil, err
	}
	pl, err := t.price(s, aux.Rows)
	if err != nil {
		return nil, err
	}
	switch {
	case t.inSecret && t.asking.peers != "":
		return t.askInSecret(ctx, id, pl, aux, acct)
	case t.inSecret:
		return t.secure(ctx, pl, aux, acct)
	}
	votes, err := t.collect(ctx, id, pl, aux)
	if err != nil {
		return nil, err
	}
	t.facts(pl, acct.Counted())
	return pl.Combine(ctx, aux, votes, acct, mech.NewExit(rng.System()))
}

// facts says what the combination is about to do.
func (t *combine) facts(pl *multiparty.Plan, counted bool) {
	for _, f := range pl.Facts() {
		t.Say("  %s", f.Text)
	}
	if !t.open && !counted {
		t.Say("no ledger: nothing is being counted; what parties spend elsewhere adds up")
	}
}

// answerAll answers the first rows instead of making a model.
func (t *combine) answerAll(ctx context.Context, id string, s *schema.Schema) error {
	_, aux, err := t.auxiliary(ctx, s, t.aux)
	if err != nil {
		return err
	}
	pl, err := t.price(s, aux.Rows)
	if err != nil {
		return err
	}
	votes, err := t.collect(ctx, id, pl, aux)
	if err != nil {
		return err
	}
	t.facts(pl, t.ledger.address != "")
	till := &cashier{learn.Uncounted{}}
	q, err := pl.Ask(votes, till, mech.NewExit(rng.System()))
	if err != nil {
		return err
	}
	if t.ledger.address == "" {
		err = t.answer(ctx, id, q, till, s, nil)
	} else {
		t.Say("charging data set %q as jobs %s-1 to %s-%d", t.dataset, id, id, pl.Queries)
		err = t.ledger.with(ctx, func(l *ledger.Ledger) error { return t.answer(ctx, id, q, till, s, l) })
	}
	if given := pl.Queries - q.Left(); err == nil {
		t.Say("wrote %d answers to %s; epsilon %s is spent, and there are no more", given, t.answers, pl.Epsilon)
	} else if given > 0 {
		t.Say("wrote %d of %d answers to %s", given, pl.Queries, t.answers)
	}
	return err
}

// collect adds up what the parties hand in.
func (t *combine) collect(ctx context.Context, id string, pl *multiparty.Plan, aux *multiparty.Auxiliary) (votes *multiparty.Tally, err error) {
	err = t.gather(ctx, id, pl, aux, func(folder string, allowed map[multiparty.Key]string) error {
		votes, err = t.tally(pl, aux, folder, allowed)
		return err
	})
	return votes, err
}

// tally reads the folder. Where allowed is not nil, nobody else may have voted.
func (t *combine) tally(pl *multiparty.Plan, aux *multiparty.Auxiliary, folder string, allowed map[multiparty.Key]string) (*multiparty.Tally, error) {
	votes, err := pl.NewTally(aux.Rows, aux.Digest)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	report, done := t.ShowRuns("tallying")
	defer done()
	for i, e := range entries {
		path := filepath.Join(folder, e.Name())
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		h, err := votes.Add(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("combine: %s: %w", path, err)
		}
		if allowed != nil && allowed[h.Key] != h.Party {
			return nil, fmt.Errorf("combine: %s: must be signed by a key that the roster has for the party it names", path)
		}
		report(i+1, len(entries))
	}
	t.Say("%d of %d parties voted; each that did not counts as a constant vote", votes.Present(), t.params.Parties)
	if allowed == nil {
		t.Say("no --roster: signatures say that files are whole, not who wrote them")
	}
	return votes, nil
}

func (t *combine) readRoster() (map[multiparty.Key]string, error) {
	if t.roster == "" {
		return nil, nil
	}
	f, err := os.Open(t.roster)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[multiparty.Key]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, name, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var k multiparty.Key
		if err := k.UnmarshalText([]byte(text)); err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("combine: %s: line %d: must be a public key of 64 hexadecimal digits and a party's name", t.roster, n)
		}
		if out[k] != "" {
			return nil, fmt.Errorf("combine: %s: line %d: must name a key once", t.roster, n)
		}
		out[k] = strings.TrimSpace(name)
	}
	return out, lines.Err()
}
