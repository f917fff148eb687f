// SPDX-License-Identifier: Apache-2.0

// Package discreet trains classifiers with differential privacy.
//
// The guarantee protects the private columns of a table. A [Schema] declares what is known about the
// table before anyone looks at it: columns, bounds, values, roles and the label. [Schema.Plan]
// computes the privacy cost of a training without any data. [Train] charges an [Account], reads the
// rows, adds noise, and returns a [Model] with a statement of its cost. Refusals happen before rows
// are read. Errors name parameters and columns, never cells.
//
// Noise is fresh in every training and cannot be seeded. The costs of trainings on the same table add
// up. A [Ledger] keeps the total and refuses a training that would exceed it.
//
// ε is measured in nats and δ is a probability. Both are float64 here and are counted as exact
// decimals, in units of 1e-9 and 1e-15, so 0.1 is exactly one tenth.
//
// The guarantees and their proofs are under evidence/guarantees of the source,
// https://github.com/discreet-dp/discreet.
package discreet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/model/export"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/read/rows"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// Schema declares what is known about a table before its rows are read. It is public and immutable,
// and safe for concurrent use.
type Schema struct {
	s    *schema.Schema
	text []byte // the file as it was read: part of a ledger job's identity
	file string // "" if it was not read from one
}

// LoadSchema reads a schema file in YAML (see docs/schema.md), and reports every fault in it, each as
// a *ParamError with the line and the correction.
func LoadSchema(path string) (_ *Schema, err error) {
	defer publish(&err)
	s, err := schema.Load(path)
	if err != nil {
		return nil, err
	}
	text, err := openfile.Read(path)
	return &Schema{s, text, path}, err
}

// ParseSchema is LoadSchema for the text of a schema file.
func ParseSchema(text []byte) (_ *Schema, err error) {
	defer publish(&err)
	s, err := schema.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Schema{s: s, text: slices.Clone(text)}, nil
}

// Role states whether the guarantee protects a column.
type Role string

const (
	Private Role = "private" // the guarantee protects it
	Public  Role = "public"  // it is known to everyone, or need not be hidden
	Ignored Role = "ignored" // it is never read
)

// Relation defines neighbouring tables: those that the guarantee makes hard to distinguish.
type Relation string

const (
	// ReplaceOne: neighbouring tables differ in the protected part of one row. The number of rows is
	// public.
	ReplaceOne Relation = "replace-one"
	// AddRemove: one of two neighbouring tables has one row more. The number of rows is private.
	AddRemove Relation = "add-remove"
)

// TableSpec describes a table in Go, for NewSchema. A field has a default only if its comment states
// one. Schema files can declare more: transforms, groups of values, pairs, derived columns, parts and
// file formats.
type TableSpec struct {
	Name     string // the name of the table
	Unit     string // what one row describes, in words: "one hospital admission"
	Relation Relation
	Columns  []Column // all but the label, in order; at most 4095
	Label    Label    // the column to predict, the last of the table
	Person   *Person  // nil if each row is a unit of privacy
	// MaxEpsilon and MaxDelta are the most that one training may spend without Options.ExceedMax. If
	// both are 0 there is no limit; if only MaxDelta is 0, no δ is allowed.
	MaxEpsilon, MaxDelta float64
}

// Person makes all rows of one person the unit of privacy, in place of one row.
type Person struct {
	// Column is an ignored column whose cells identify persons.
	Column string
	Rows   int // largest number of a person's rows that are used; the noise grows in proportion
	// Persons is the approximate number of persons, from public knowledge; 0 if unknown. Plans under
	// AddRemove require it.
	Persons int
}

// Column describes one column of a TableSpec. Functions such as NumberColumn and CategoryColumn make
// one.
type Column struct {
	name  string
	role  Role
	kind  string // the key of its facts in a schema
	facts map[string]any
}

// NumberColumn is a column of numbers. Cells are clamped to [lower, upper], which must be finite and
// come from documentation, not from the data; absent replaces missing and unreadable cells.
func NumberColumn(name string, role Role, lower, upper, absent float64) Column {
	facts := map[string]any{"lower": lower, "upper": upper, "default": absent}
	if bad := lower - upper + absent; math.IsNaN(bad) || math.IsInf(bad, 0) {
		facts = map[string]any{} // refused by name, below
	}
	return Column{name, role, "number", facts}
}

// IntegerColumn is a NumberColumn for whole numbers, such as counts. If it has few values, learners
// treat each value separately. lower and upper must be whole.
func IntegerColumn(name string, role Role, lower, upper, absent float64) Column {
	return NumberColumn(name, role, lower, upper, absent).with("integer", true)
}

// CategoryColumn is a column of the given values. All other cells, missing ones included, become one
// more value, "other".
func CategoryColumn(name string, role Role, values ...string) Column {
	return Column{name, role, "category", map[string]any{"levels": values}}
}

// DateColumn is a column of dates, which count as days. Dates are clamped to [lower, upper]; absent
// replaces missing and unreadable cells. A time counts as its day in its own time zone. Text cells are
// written like 2015-01-31 unless WithFormat changes that.
func DateColumn(name string, role Role, lower, upper, absent time.Time) Column {
	facts := map[string]any{"format": isoDate}
	for key, day := range map[string]time.Time{"lower": lower, "upper": upper, "default": absent} {
		if !day.IsZero() { // else refused by name, below
			facts[key] = day.Format(time.DateOnly)
		}
	}
	return Column{name, role, "date", facts}
}

const isoDate = "YYYY-MM-DD"

// IgnoredColumn is a column that is read only to identify persons, if at all.
func IgnoredColumn(name string) Column { return Column{name: name, role: Ignored} }

// WithMissing gives missing cells a bin of their own. In number and date columns, unreadable cells
// share it.
func (c Column) WithMissing() Column { return c.with("missing", true) }

// WithSpecial gives each of the codes a bin of its own. Codes are numbers that are not amounts, such
// as 96 for "refused". The column must be numeric.
func (c Column) WithSpecial(codes ...float64) Column { return c.with("special", codes) }

// WithFormat sets the format of text cells of a date column. For example, "DD.MM.YYYY": each of the three
// parts occurs once. M and D stand for one or two digits, as in "D.M.YYYY".
func (c Column) WithFormat(format string) Column { return c.with("format", format) }

// with returns the column with one more key. NewSchema refuses keys that the kind of column does not
// have.
func (c Column) with(key string, value any) Column {
	facts := maps.Clone(c.facts)
	if facts == nil {
		facts = map[string]any{}
	}
	facts[key] = value
	c.facts = facts
	return c
}

// Label is the column that a classifier predicts.
type Label struct {
	Name     string
	Role     Role     // Private or Public
	Values   []string // at least 2
	Positive string   // the value that scores refer to, if there are two
	Absent   string   // replaces unreadable labels; may be "" only if the label is not protected
}

// NewSchema builds a schema from its description, by the rules of LoadSchema.
func NewSchema(d TableSpec) (_ *Schema, err error) {
	defer publish(&err)
	doc := map[string]any{
		"name": d.Name, "unit": d.Unit, "relation": d.Relation,
		"file": map[string]any{"delimiter": ",", "quote": `"`, "header": true, "missing": []string{""}},
	}
	for key, limit := range map[string]float64{"max_epsilon": d.MaxEpsilon, "max_delta": d.MaxDelta} {
		if math.IsNaN(limit) || math.IsInf(limit, 0) {
			return nil, &dp.ParamError{Op: "schema", Param: key, Want: "must be finite", Got: limit}
		}
		if limit != 0 {
			doc[key] = limit
		}
	}
	var columns []map[string]any
	for _, c := range d.Columns {
		column := map[string]any{"name": c.name, "role": c.role}
		if c.kind != "" {
			column[c.kind] = c.facts
		} else if len(c.facts) > 0 {
			return nil, &dp.ParamError{Op: "schema", Param: fmt.Sprintf("column %q", c.name), Want: "must have no bins, since it is ignored"}
		}
		columns = append(columns, column)
	}
	label := map[string]any{"levels": d.Label.Values}
	if d.Label.Positive != "" {
		label["positive"] = d.Label.Positive
	}
	if d.Label.Absent != "" {
		label["default"] = d.Label.Absent
	}
	doc["columns"] = append(columns, map[string]any{"name": d.Label.Name, "role": d.Label.Role, "label": label})
	if p := d.Person; p != nil {
		person := map[string]any{"column": p.Column, "rows": p.Rows}
		if p.Persons != 0 {
			person["persons"] = p.Persons
		}
		doc["person"] = person
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, &dp.ParamError{Op: "schema", Param: "columns", Want: "must have finite numbers only"}
	}
	s := &schema.Schema{}
	if err := s.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	text, err = s.YAML()
	return &Schema{s: s, text: text}, err
}

// Columns are the names of the table's columns in order, the label among them.
func (s *Schema) Columns() []string {
	if s.isEmpty() {
		return nil
	}
	return rows.Names(s.s)
}

// Classes are the values of the label, in the order in which scores are given.
func (s *Schema) Classes() []string {
	if s.isEmpty() {
		return nil
	}
	names := schema.Values(s.s.Label.Levels)
	return names
}

// String is the schema as a file in YAML.
func (s *Schema) String() string {
	if s.isEmpty() {
		return ""
	}
	text, err := s.s.YAML()
	if err != nil {
		panic(err) // a schema that was read can be written
	}
	return string(text)
}

// Table holds rows in memory, coded by their schema in about a byte per cell. It is immutable and safe
// for concurrent use.
type Table struct {
	s    *Schema
	t    *dataset.Table
	data []string // the files it was read from
}

// Rows is the number of rows. Under AddRemove it is private.
func (t *Table) Rows() int {
	if t.isEmpty() {
		return 0
	}
	return t.t.Rows
}

// ReadTable reads labelled rows from files in order, CSV (also .gz or .zst) or Parquet (.parquet), or folders of
// either. A file is read once: the same one under two names is refused.
// Columns are matched by name if the files name them. A structural fault is a *FaultError; an
// unreadable private cell is replaced as the schema declares, without a message.
func ReadTable(ctx context.Context, s *Schema, paths ...string) (_ *Table, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("table")
	}
	if s.isEmpty() {
		return nil, missing("table", "schema")
	}
	t, err := dataset.Read(ctx, s.s, dataset.Options{}, paths...)
	if err != nil {
		return nil, err
	}
	return &Table{s, t, slices.Clone(paths)}, nil
}

// ReadTableFrom reads labelled rows from CSV.
func ReadTableFrom(ctx context.Context, s *Schema, r io.Reader) (_ *Table, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("table")
	}
	if s.isEmpty() || r == nil {
		return nil, missing("table", "schema or reader")
	}
	t, err := dataset.Read(ctx, s.s, dataset.Options{Stdin: r}, "-")
	if err != nil {
		return nil, err
	}
	return &Table{s, t, []string{"-"}}, nil
}

// TableOf makes a table of a slice of structs. A column is read from the exported field with the tag
// `discreet:"name"`, or else from the field of that name. Fields that match no column are refused
// unless tagged `discreet:"-"`. A field is a string, an integer, a float, a bool, a time.Time (for a
// date), a big number, a [16]byte (for a UUID), a decimal or another type whose String is a number, a
// driver.Valuer such as sql.NullInt64, or a pointer to one of these, which is nil if the cell is
// missing. A field whose type cannot carry what the schema declares is refused. A table without a
// field for the label can only be predicted.
func TableOf[T any](s *Schema, structs []T) (_ *Table, err error) {
	defer publish(&err)
	if s.isEmpty() {
		return nil, missing("table", "schema")
	}
	return tableOf(s)(rows.OfStructs(s.s, structs))
}

// TableOfRows makes a table of rows of text, spelled as in a CSV file. Each row has one cell for each
// of s.Columns(), in order, including the label.
func TableOfRows(s *Schema, text iter.Seq[[]string]) (_ *Table, err error) {
	defer publish(&err)
	if s.isEmpty() || text == nil {
		return nil, missing("table", "schema or rows")
	}
	return tableOf(s)(rows.OfText(s.s, text))
}

// TableFromSQL makes a table of the remaining rows of a query, and closes the query. Columns are
// matched by name and NULL is a missing cell. Values have the types that TableOf has for fields, or
// are dates and decimals as text where the database declares such a type; a value of any other type is
// unreadable. A column whose declared type cannot carry what the schema declares is refused. Without a column for the label, the table can only be
// predicted.
func TableFromSQL(ctx context.Context, s *Schema, query *sql.Rows) (_ *Table, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("table")
	}
	if s.isEmpty() || query == nil {
		return nil, missing("table", "schema or query")
	}
	return tableOf(s)(rows.OfSQL(ctx, s.s, query))
}

// tableOf returns a function that wraps the results of a dataset constructor.
func tableOf(s *Schema) func(*dataset.Table, error) (*Table, error) {
	return func(t *dataset.Table, err error) (*Table, error) {
		if err != nil {
			return nil, err
		}
		return &Table{s: s, t: t}, nil
	}
}

// Options select what to train and the price to pay.
type Options struct {
	// Learner is one of Learners(); "" selects the first, the default.
	Learner string
	// Params are the learner's options by name, as text; `discreet train --help` lists them with their
	// defaults.
	Params map[string]string
	// Epsilon is the privacy loss that the training may cost, > 0 and at most 1000.
	// It has no default.
	Epsilon float64
	// Delta is the δ that learners with an (ε, δ) mode may spend in addition; 0 for a pure guarantee.
	Delta float64
	// NotPrivate trains without noise, and the model records that. Epsilon must be 0.
	NotPrivate bool
	// Account is charged before anything private is used: a job of a ledger, Uncounted, or an
	// AccountFunc. Plan does not use it; Train refuses nil.
	Account Account
	// Rows is the number of rows, for Plan. It may be 0. Train does not use it.
	Rows int
	// Part trains on the rows of one part only: a value of the column that the schema names under
	// parts. "" selects all rows.
	Part string
	// Cohorts trains on the rows of these cohorts of a data set that was declared with DeclareCohorts;
	// nil selects all rows. Account must be a job of that ledger, which charges only these cohorts.
	Cohorts []string
	// ExceedMax allows a price above the schema's limits; the model records it.
	ExceedMax bool
	// RequireCheck refuses a table unless discreet schema check has read its files as they are now, with the
	// schema's file. What it found does not matter. Without RequireCheck, Progress gets a line.
	RequireCheck bool
	// Progress receives progress messages, one line each; may be nil.
	Progress func(line string)
}

// Learners returns the names of the learners, the default first.
func Learners() []string { return train.LearnerNames() }

// Price is the cost of a training: the guarantee is (Epsilon, Delta)-differential
// privacy, pure if Delta is 0.
type Price struct{ Epsilon, Delta float64 }

func (p Price) String() string {
	s := "epsilon = " + strconv.FormatFloat(p.Epsilon, 'g', -1, 64)
	if p.Delta > 0 {
		s += ", delta = " + strconv.FormatFloat(p.Delta, 'g', -1, 64)
	}
	return s
}

// Release is one line of a bill: a number or choice that is released with noise.
type Release struct {
	Name      string // what is released
	Mechanism string
	Epsilon   float64 // +Inf if the price is stated by Rho alone
	Rho       float64 // of Gaussian noise, in zero-concentrated differential privacy; otherwise 0
	Delta     float64 // of a line that is (Epsilon, Delta)-private as a whole; otherwise 0
}

// Fact is a fact about a training to know before paying.
type Fact struct {
	Key   string // stable, for programs
	Value any    // a number, string, bool or a list of them
	Text  string // for readers; may be empty
}

// Plan is a training that was checked and priced without any data.
type Plan struct {
	Price Price
	Bill  []Release // every release, in order
	Facts []Fact
	// Refusal explains how the price exceeds the schema's limit for one training; "" if it does not.
	// Train would refuse the training.
	Refusal string
}

// String returns the plan as text for readers.
func (p *Plan) String() string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	for _, f := range p.Facts {
		if f.Text != "" {
			fmt.Fprintln(&b, f.Text)
		}
	}
	fmt.Fprintf(&b, "bill: %s in total, %s\n", p.Price, plaintext.Count(len(p.Bill), "measurement"))
	if p.Refusal != "" {
		fmt.Fprintf(&b, "refused: %s\n", p.Refusal)
	}
	return b.String()
}

// Plan checks everything about a training that can be checked without data, and
// prices it. A refused option is a *ParamError.
func (s *Schema) Plan(o Options) (_ *Plan, err error) {
	defer publish(&err)
	if s.isEmpty() {
		return nil, missing("plan", "schema")
	}
	req, err := o.makeRequest("plan")
	if err != nil {
		return nil, err
	}
	if o.Rows < 0 {
		return nil, &dp.ParamError{Op: "plan", Param: "rows", Want: "must be at least 0", Got: o.Rows}
	}
	if err := train.CheckPart("plan", o.Part, s.s); err != nil {
		return nil, err
	}
	pl, err := req.Plan(s.s, o.Rows)
	if err != nil {
		return nil, err
	}
	out := &Plan{Price: priceOf(pl.Terms().Price), Bill: releasesOf(pl.Terms().Bill), Refusal: req.Price.Excess(s.s)}
	for _, f := range pl.Facts() {
		out.Facts = append(out.Facts, Fact{f.Key, f.Value, f.Words(stepWords)})
	}
	return out, nil
}

// Train trains a model on the rows of t. It checks the options, charges the
// account, and only then uses the rows; a refused option is a *ParamError, a price
// that is not allowed satisfies errors.Is(err, ErrBudget). An account that was
// charged stays charged when the training fails or ctx ends.
//
// A job of a ledger keeps the model's bytes there before Train returns. The same
// job again returns that model for nothing, whatever the rows of t are: see
// Ledger.Job and Model.FromLedger.
func Train(ctx context.Context, t *Table, o Options) (_ *Model, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("train")
	}
	if t.isEmpty() {
		return nil, missing("train", "table")
	}
	req, err := o.makeRequest("train")
	if err != nil {
		return nil, err
	}
	if t.t.Labels == nil {
		return nil, &dp.ParamError{Op: "train", Param: "table", Want: "must have labels"}
	}
	run := &train.Training{
		Op: "train", Request: req, Schema: t.s.s, SchemaText: t.s.text, Data: t.data, Part: o.Part,
		Cohorts: o.Cohorts, Exceed: o.ExceedMax,
		Read: func(context.Context) (*dataset.Table, error) { return t.t, nil },
	}
	if f, ok := o.Account.(AccountFunc); o.Account == nil || ok && f == nil {
		return nil, &dp.ParamError{
			Op: "train", Param: "account", Want: "is required: it decides who counts the cost of all trainings on this table",
			Hint: "a job of a Ledger, an AccountFunc, or Uncounted where nobody does",
		}
	}
	if err := o.askForCheck(ctx, t); err != nil {
		return nil, err
	}
	o.Account.payFor(run)
	if o.Progress != nil {
		run.Say = func(format string, args ...any) { o.Progress(fmt.Sprintf(format, args...)) }
	}
	m, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Model{m: m, fromLedger: run.FromLedger}, nil
}

// askForCheck says or refuses that nobody has checked the table.
func (o *Options) askForCheck(ctx context.Context, t *Table) (err error) {
	err = dataset.ErrUnchecked
	if t.s.file != "" && len(t.data) > 0 {
		err = dataset.FindCheck(ctx, dataset.RecordBeside(t.s.file), t.s.s, t.data...)
	}
	switch {
	case err == nil:
	case o.RequireCheck && errors.Is(err, dataset.ErrUnchecked):
		return &dp.Advised{Err: fmt.Errorf("train: %w", err), Next: dp.Step{Kind: dp.CheckTable}}
	case o.RequireCheck:
		return fmt.Errorf("train: %w", err)
	case o.Progress != nil && errors.Is(err, dataset.ErrStream):
		o.Progress(err.Error())
	case o.Progress != nil:
		o.Progress(dataset.ErrUnchecked.Error())
	}
	return nil
}

// makeRequest checks the options by themselves.
func (o *Options) makeRequest(op string) (*train.Request, error) {
	text := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+")
	}
	c := train.Choice{
		Learner: o.Learner, Options: o.Params,
		Price: train.PriceText{Epsilon: text(o.Epsilon), Delta: text(o.Delta), NotPrivate: o.NotPrivate},
	}
	switch {
	case o.NotPrivate && o.Epsilon != 0:
		return nil, &ParamError{Op: op, Param: "epsilon", Want: "must be 0 together with Options.NotPrivate", Got: o.Epsilon,
			Next: dp.Step{Kind: dp.LeaveOut, Name: "not-private", Why: "to train with privacy"}}
	case o.NotPrivate:
		c.Price.Epsilon = "inf"
	case math.IsInf(o.Epsilon, 0):
		return nil, dp.Refuse(op, "epsilon", "must be finite", o.Epsilon)
	}
	return c.Request(op)
}

// priceOf rounds an exact price to the nearest float64 numbers.
func priceOf(p dp.Price) Price {
	delta, err := strconv.ParseFloat(p.Delta.String(), 64)
	if err != nil {
		panic(err) // a Delta is written as a decimal
	}
	return Price{p.Epsilon.Float(), delta}
}

func releasesOf(bill []dp.Event) []Release {
	out := make([]Release, len(bill))
	for i, e := range bill {
		out[i] = Release{Name: e.Release, Mechanism: e.Mechanism, Epsilon: e.Epsilon.Float(), Rho: e.Rho.Float(), Delta: priceOf(dp.Price{Delta: e.Delta}).Delta}
	}
	return out
}

// Account pays for trainings. It is Uncounted, an AccountFunc or a job of a Ledger.
type Account interface{ payFor(*train.Training) }

// Uncounted is the account of trainings whose costs are not added up. Each of their models states that
// it was not counted.
var Uncounted Account = uncounted{}

type uncounted struct{}

func (uncounted) payFor(t *train.Training) { t.Account = guard.Uncounted{} }

// AccountFunc is an account that the caller provides. It either records the price of the whole bill
// durably and returns nil, or returns an error and records nothing. It is called once per training,
// before anything private is used.
type AccountFunc func(ctx context.Context, p Price, bill []Release) error

func (f AccountFunc) payFor(t *train.Training) { t.Account = callerAccount{f} }

type callerAccount struct{ charge AccountFunc }

func (a callerAccount) Charge(ctx context.Context, p dp.Price, bill []dp.Event) error {
	return a.charge(ctx, priceOf(p), releasesOf(bill))
}

func (a callerAccount) Counted() bool { return true }

// Ledger is a durable record of what is spent on data sets: a file, or a database of PostgreSQL, the same
// that `discreet budget` uses. It refuses trainings that would overspend a total. Processes and
// goroutines may share it.
type Ledger struct{ l *ledger.Ledger }

// OpenLedger opens the ledger at address, a file or postgres://user@host/database, and creates it if
// it does not exist; the caller must close it.
func OpenLedger(ctx context.Context, address string) (_ *Ledger, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("ledger")
	}
	l, err := ledger.Create(ctx, address)
	if err != nil {
		return nil, err
	}
	return &Ledger{l}, nil
}

// Close releases the file or the connections.
func (l *Ledger) Close() (err error) {
	defer publish(&err)
	if l.isEmpty() {
		return nil
	}
	return l.l.Close()
}

// Declare adds a data set and the total that all trainings on it may cost. Totals never change: a data
// set that exists already is refused.
func (l *Ledger) Declare(ctx context.Context, dataset string, total Price) (err error) {
	defer publish(&err)
	return l.declare(ctx, ledger.Dataset{Name: dataset}, total)
}

// DeclareCohorts adds a data set whose total holds for each cohort. A cohort is the rows with the same value,
// or the same month of a date, in a public column. Each person must have rows in one cohort only.
func (l *Ledger) DeclareCohorts(ctx context.Context, dataset, column string, total Price) (err error) {
	defer publish(&err)
	return l.declare(ctx, ledger.Dataset{Name: dataset, CohortBy: column}, total)
}

func (l *Ledger) declare(ctx context.Context, d ledger.Dataset, total Price) (err error) {
	if ctx == nil {
		return noContext("ledger")
	}
	if l.isEmpty() {
		return missing("ledger", "ledger")
	}
	if d.Epsilon, err = dp.EpsilonOf(total.Epsilon); err != nil {
		return err
	}
	if d.Delta, err = dp.DeltaOf(total.Delta); err != nil {
		return err
	}
	return l.l.Declare(ctx, d)
}

// Job is the account of one training on a declared data set, named by id. The same id returns the same
// model, and Model.FromLedger is then true. A job is bound to its options, the text of its schema and the
// names of its files; with others it is refused. Rows are not compared: give other rows another id.
func (l *Ledger) Job(dataset, id string) Account {
	if l.isEmpty() {
		return nil // Train refuses it
	}
	return ledgerJob{l.l, dataset, id}
}

type ledgerJob struct {
	l           *ledger.Ledger
	dataset, id string
}

func (j ledgerJob) payFor(t *train.Training) {
	t.Job = &train.Job{Ledger: j.l, Dataset: j.dataset, ID: j.id}
}

// Balance describes a data set of a ledger and the use of its total.
type Balance struct {
	Dataset string
	Unit    string // what one row describes; "" before the first training
	Note    string // the owner's note
	Total   Price  // Spent + Reserved + Left
	Spent   Price  // by trainings that began
	// Reserved is held by trainings that have not yet begun.
	Reserved Price
	Left     Price
}

// Show lists the balances of the named data sets, or of all if none is named.
func (l *Ledger) Show(ctx context.Context, dataset ...string) (_ []Balance, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("ledger")
	}
	if l.isEmpty() {
		return nil, missing("ledger", "ledger")
	}
	all, err := l.l.Balances(ctx, dataset...)
	if err != nil {
		return nil, err
	}
	out := make([]Balance, len(all))
	for i, b := range all {
		price := func(e dp.Epsilon, d dp.Delta) Price { return priceOf(dp.Price{Epsilon: e, Delta: d}) }
		out[i] = Balance{
			Dataset: b.Name, Unit: b.Unit, Note: b.Note,
			Total: price(b.Epsilon, b.Delta), Spent: price(b.Spent, b.SpentDelta),
			Reserved: price(b.Reserved, b.ReservedDelta), Left: price(b.Left, b.LeftDelta),
		}
	}
	return out, nil
}

// Model is a trained classifier with its privacy statement. It contains only what was paid for. It is
// immutable and safe for concurrent use.
type Model struct {
	m          *model.Model
	fromLedger bool
}

// LoadModel reads a model file.
func LoadModel(path string) (_ *Model, err error) {
	defer publish(&err)
	m, err := model.Load(path)
	if err != nil {
		if !is[*fs.PathError](err) {
			err = speakGo(err, []error{ErrModel})
		}
		return nil, err
	}
	return &Model{m: m}, nil
}

// FromLedger reports whether Train returned the model of an earlier training with the same job, and did
// not use the rows that it was given.
func (m *Model) FromLedger() bool { return m != nil && m.fromLedger }

// Save writes the model to path atomically: after a failure the old file is intact. It does not
// replace a ledger, a schema, a key or another paid model: remove such a file first.
func (m *Model) Save(path string) (err error) {
	defer publish(&err)
	file, err := m.MarshalBinary()
	if err == nil {
		err = atomicfile.CheckSpared(path, file)
	}
	if err != nil {
		return err
	}
	return m.m.Save(path)
}

// MarshalBinary returns the bytes that Save writes. The same model has the same bytes.
func (m *Model) MarshalBinary() (_ []byte, err error) {
	defer publish(&err)
	if m.isEmpty() {
		return nil, missing("model", "model")
	}
	return model.Marshal(m.m)
}

// UnmarshalBinary reads what MarshalBinary wrote. It allocates at most in proportion to the length of
// b.
func (m *Model) UnmarshalBinary(b []byte) (err error) {
	defer publish(&err)
	if m == nil {
		return missing("model", "model")
	}
	if m.m, err = model.Unmarshal(b); err != nil {
		return speakGo(err, []error{ErrModel})
	}
	return nil
}

// Schema returns the part of the table's schema that the model holds: the columns it reads, and the
// label.
func (m *Model) Schema() *Schema {
	if m.isEmpty() {
		return nil
	}
	text, err := m.m.Schema.YAML()
	if err != nil {
		panic(err) // a model's schema was checked when it was made
	}
	return &Schema{s: m.m.Schema, text: text}
}

// Learner returns the name of the learner.
func (m *Model) Learner() string {
	if m.isEmpty() {
		return ""
	}
	return m.m.Learner
}

// ReadTable reads rows to predict, as the function ReadTable does, with the model's own schema. The
// label is not read and may be absent.
func (m *Model) ReadTable(ctx context.Context, paths ...string) (_ *Table, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("table")
	}
	if m.isEmpty() {
		return nil, missing("predict", "model")
	}
	t, err := dataset.Read(ctx, m.m.Schema, dataset.Options{Labels: dataset.LabelsIgnored, Count: true}, paths...)
	if err != nil {
		return nil, err
	}
	return &Table{m.Schema(), t, paths}, nil
}

// Predictions are the predictions for the rows of a table.
type Predictions struct {
	// Class is the predicted value of the label, one per row.
	Class []string
	// Scores are numbers in [0, 1]. If the label has two values, there is one score per row, that of
	// the positive value, which is predicted from 1/2 on. If it has K > 2 values, there are K scores
	// per row in the order of Schema.Classes, which add up to 1; the value with the largest is
	// predicted.
	Scores []float64
	// Undeclared counts the cells that were not as the table's schema declares, by column and what they
	// are: "age.unreadable", or missing, other or clamped. It is nil for a table that was read with labels.
	Undeclared map[string]int
}

// PredictTable predicts the rows of a table on all processors. The table may have been read with
// another schema that has the model's columns. The predictions are as private as the rows.
func (m *Model) PredictTable(t *Table) (_ *Predictions, err error) {
	defer publish(&err)
	scores, err := m.scoreRows(t)
	if err != nil {
		return nil, err
	}
	out := &Predictions{Class: make([]string, t.t.Rows), Scores: scores}
	for i, code := range m.m.Labels(scores) {
		out.Class[i] = m.m.Schema.Label.Levels[code].Value
	}
	if t.t.Counts != nil {
		out.Undeclared = maps.Collect(coding.Numbers(coding.FindUndeclared(t.t.Schema, t.t.Counts)))
	}
	return out, nil
}

func (m *Model) scoreRows(t *Table) ([]float64, error) {
	if m.isEmpty() || t.isEmpty() {
		return nil, missing("predict", "model or table")
	}
	p, err := m.m.Bind(t.t.Schema)
	if err != nil {
		return nil, err
	}
	return p.Scores(t.t.Cols, t.t.Rows)
}

// Report measures how well predictions match the labels of some rows. Its numbers are exact, and so
// NOT PRIVATE.
type Report struct {
	Rows     int
	Accuracy float64 // share of rows that are predicted right
	// BalancedAccuracy is the accuracy of each class that occurs, averaged over classes.
	BalancedAccuracy float64
	// AUC is the area under the ROC curve; for more than two classes, the mean area of each class
	// against the rest. It is nil if a class does not occur.
	AUC              *float64
	LogLoss          float64 // mean of -ln(score of the true class), nats
	CalibrationError float64 // expected calibration error over ten bins
	// Confusion counts rows by true class and then by predicted class, in the order of Schema.Classes.
	Confusion [][]int
}

// Evaluate compares the model's predictions with the labels of a table, which should hold rows that
// training did not use.
func (m *Model) Evaluate(t *Table) (_ *Report, err error) {
	defer publish(&err)
	if m.isEmpty() || t.isEmpty() {
		return nil, missing("evaluate", "model or table")
	}
	if t.t.Labels == nil {
		return nil, &dp.ParamError{Op: "evaluate", Param: "table", Want: "must have labels"}
	}
	scores, err := m.scoreRows(t)
	if err != nil {
		return nil, err
	}
	r, err := metrics.Evaluate(t.t.Labels, scores, m.Schema().Classes(), m.m.Schema.Label.Positive, m.m.Threshold())
	if err != nil {
		return nil, err
	}
	return &Report{
		Rows: r.Rows, Accuracy: r.Accuracy, BalancedAccuracy: r.BalancedAccuracy, AUC: r.AUC,
		LogLoss: r.LogLoss, CalibrationError: r.CalibrationError, Confusion: r.Confusion.Counts,
	}, nil
}

// EvaluationOptions are the options of a private evaluation.
type EvaluationOptions struct {
	// Epsilon is the privacy loss of the evaluation, > 0 and at most 1000. It has no default.
	Epsilon float64
	// Delta allows Gaussian noise if its scale is smaller; 0 for a pure guarantee.
	Delta float64
	// Account is charged before anything private is used, as in Options. In a ledger, held-out rows
	// are another data set than the training rows.
	Account Account
	// Threshold is the score in (0, 1) from which on rows are predicted positive; 0 for 1/2.
	Threshold float64
	// FalsePositiveCost and FalseNegativeCost are the costs of a mistake. If they are above 0, the
	// threshold is chosen to suit them.
	FalsePositiveCost, FalseNegativeCost float64
	// Rate chooses the threshold at which the share of rows that are predicted positive is nearest to it; 0 for none.
	Rate float64
	// By names a category whose levels are groups of rows, of which each has numbers of its own; "" for none.
	By string
	// Against is a second model to compare on the same rows; nil for none.
	Against *Model
	// Part and Cohorts are as in Options.
	Part    string
	Cohorts []string
	// Progress receives progress messages, one line each; may be nil.
	Progress func(line string)
}

// Estimate is a number about held-out rows that was computed from a noisy histogram.
type Estimate struct {
	Value float64 // NaN if the noise leaves no estimate
	// Low and High enclose the true number with probability 95 %: they cover the noise, the choice of
	// the rows, and the cells of the histogram.
	Low, High float64
}

// PrivateReport is the result of a private evaluation.
type PrivateReport struct {
	Price Price
	// Rows is the number of rows, or of persons, if it is public; otherwise 0.
	Rows int
	// Threshold is the score from which on rows are predicted positive, if the label has two values.
	Threshold float64
	// Numbers are the estimates by name: "auc", "log_loss" and "accuracy"; for two classes also
	// "precision", "recall", "positive_rate", "predicted_rate", "pr_auc" and "lift_at_10_percent", and
	// with costs "cost". A comparison of two models adds "auc_difference", "log_loss_difference" and
	// "accuracy_difference", the second model's number minus the first one's, and each model's own
	// numbers, named "auc_first", "auc_second" and so on.
	Numbers map[string]Estimate
	// Groups are the numbers of each group of By by its name, if By was given: "accuracy", "positive_rate", "predicted_rate",
	// "recall", "auc" and "score_minus_rate", the mean score minus the positive rate. Intervals of all of them hold together. A
	// group is empty if the released counts do not tell it from one with hardly any rows.
	Groups map[string]map[string]Estimate
	// FromLedger: the job had these numbers already, and the rows of t were not used.
	FromLedger bool
	text       string
}

// String returns the report in words.
func (r PrivateReport) String() string { return r.text }

// EvaluatePrivately evaluates the model on private rows that were held out of training. It releases
// one noisy histogram of scores by label, and computes every number from it. A job of a ledger stores
// the histogram; the same job again returns the same numbers at no cost.
func (m *Model) EvaluatePrivately(ctx context.Context, t *Table, o EvaluationOptions) (_ *PrivateReport, err error) {
	defer publish(&err)
	if ctx == nil {
		return nil, noContext("evaluate")
	}
	if m.isEmpty() || t.isEmpty() || o.Against != nil && o.Against.isEmpty() {
		return nil, missing("evaluate", "model or table")
	}
	if f, ok := o.Account.(AccountFunc); o.Account == nil || ok && f == nil {
		return nil, &dp.ParamError{Op: "evaluate", Param: "account",
			Want: "is required: it decides who counts the cost of all evaluations on this table"}
	}
	run := &train.Evaluation{Training: train.Training{
		Op: "evaluate", Schema: t.s.s, SchemaText: t.s.text, Data: t.data, Part: o.Part,
		Cohorts: o.Cohorts,
		Read:    func(context.Context) (*dataset.Table, error) { return t.t, nil },
	}}
	if run.Params, err = o.params(m); err != nil {
		return nil, err
	}
	choice := evaluation.Choice{Rate: o.Rate}
	if o.FalsePositiveCost != 0 || o.FalseNegativeCost != 0 {
		choice.Costs = &evaluation.Costs{FalsePositive: o.FalsePositiveCost, FalseNegative: o.FalseNegativeCost}
	}
	if err := choice.Check(t.s.s.Classes(), len(run.Params.Models)); err != nil {
		return nil, err
	}
	o.Account.payFor(&run.Training)
	if o.Progress != nil {
		run.Say = func(format string, args ...any) { o.Progress(fmt.Sprintf(format, args...)) }
	}
	r, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	report, err := r.Report(choice)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		return nil, err
	}
	out := &PrivateReport{Price: priceOf(dp.Price{Epsilon: r.Epsilon, Delta: r.Delta}), Rows: r.Units,
		Threshold: report.Threshold, FromLedger: run.FromLedger,
		text: text.String()}
	out.Numbers = estimatesOf(report.Numbers)
	if report.Groups != nil {
		out.Groups = map[string]map[string]Estimate{}
	}
	for _, g := range report.Groups {
		out.Groups[g.Name] = estimatesOf(g.Numbers)
	}
	return out, nil
}

func estimatesOf(numbers []evaluation.Number) map[string]Estimate {
	out := map[string]Estimate{}
	for _, n := range numbers {
		e := Estimate{n.Value, n.Low, n.High}
		if !n.Known {
			e.Value = math.NaN()
		}
		out[n.Name] = e
	}
	return out
}

// params checks the options by themselves.
func (o *EvaluationOptions) params(m *Model) (p evaluation.Params, err error) {
	p.Models, p.Threshold, p.By = []*model.Model{m.m}, cmp.Or(o.Threshold, 0.5), o.By
	if o.Against != nil {
		p.Models = append(p.Models, o.Against.m)
	}
	if p.Epsilon, err = dp.EpsilonOf(o.Epsilon); err != nil {
		return p, err
	}
	if o.Delta != 0 {
		p.Delta, err = dp.DeltaOf(o.Delta)
	}
	return p, err
}

// Statement is a model's guarantee and its cost, for a privacy officer to sign.
type Statement struct {
	Price       Price     // 0 if nothing is protected
	Bill        []Release // every release, in order
	Claim       string    // the page and claim under evidence/guarantees with the proof
	Text        string    // the guarantee in words
	Unprotected []string  // what is NOT protected, one sentence each
	Counted     bool      // an account was charged
	NotPrivate  bool      // trained without a guarantee although columns are private
	Overrides   []string  // limits that were exceeded on purpose

	card string
}

// String returns the whole statement, one fact per line.
func (s Statement) String() string { return s.card }

// Statement returns the model's privacy statement.
func (m *Model) Statement() Statement {
	if m.isEmpty() {
		return Statement{}
	}
	p := m.m.Privacy
	return Statement{
		Price: priceOf(dp.Price{Epsilon: p.Epsilon, Delta: p.Delta}), Bill: releasesOf(p.Bill), Claim: p.Claim,
		Text:        p.Words(),
		Unprotected: append([]string(nil), p.Unprotected...), Counted: p.Counted, NotPrivate: p.NotPrivate,
		Overrides: append([]string(nil), p.Overrides...), card: p.Card(),
	}
}

// Export writes the model as a program for another system, which scores rows as PredictTable does. The
// format is "onnx" for a graph, or "sql" for a query that PostgreSQL and DuckDB understand. Others are
// refused with a *ParamError.
func (m *Model) Export(w io.Writer, format string) (err error) {
	defer publish(&err)
	if m.isEmpty() || w == nil {
		return missing("export", "model or writer")
	}
	return export.Write(w, m.m, format)
}

// Explanation is the contribution of each column to a model. It reveals nothing that the
// model does not.
type Explanation struct{ e *explain.Explanation }

// Explain explains an additive, linear or grids model. Other models are refused with a *ParamError,
// since none of their parts has a meaning by itself.
func (m *Model) Explain() (_ *Explanation, err error) {
	defer publish(&err)
	if m.isEmpty() {
		return nil, missing("explain", "model")
	}
	e, err := explain.Of(m.m)
	if err != nil {
		return nil, err
	}
	file, err := model.Marshal(m.m)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file)
	e.Checksum = hex.EncodeToString(sum[:])
	return &Explanation{e}, nil
}

// WriteHTML writes a self-contained page with one drawing per column.
func (e *Explanation) WriteHTML(w io.Writer) (err error) {
	defer publish(&err)
	if e == nil || e.e == nil || w == nil {
		return missing("explain", "explanation or writer")
	}
	dated := *e.e
	dated.Date = time.Now().UTC().Format(time.DateOnly)
	return dated.WriteHTML(w)
}

// MarshalJSON returns the numbers of the page, as `discreet explain --json` prints them.
func (e *Explanation) MarshalJSON() ([]byte, error) {
	if e == nil {
		return []byte("null"), nil
	}
	return json.Marshal(e.e)
}

// Cell is one cell of a row to predict: a Text, a Number, or the zero Cell for a missing one.
type Cell struct{ c coding.Cell }

// Text is a cell spelled as in a CSV file, of any kind of column.
func Text(s string) Cell { return Cell{coding.TextCell(s)} }

// Number is a numeric cell.
func Number(x float64) Cell { return Cell{coding.NumberCell(x)} }

// Predictor predicts one row at a time without allocation, and gives the bits of PredictTable. The
// default learner's model of 14 columns takes about half a microsecond (BenchmarkPredictRow). It is
// safe for concurrent use.
type Predictor struct {
	m       *model.Model
	coder   *coding.RowCoder
	scorer  *model.RowPredictor
	columns []string
	scratch sync.Pool // of *rowScratch
	fields  sync.Map  // of *rows.Fields by reflect.Type
}

type rowScratch struct {
	cells  []column.Cell
	scores []float64
}

// Predictor prepares the prediction of single rows.
func (m *Model) Predictor() (_ *Predictor, err error) {
	defer publish(&err)
	if m.isEmpty() {
		return nil, missing("predict", "model")
	}
	coder, err := coding.NewRowCoder(m.m.Schema)
	if err != nil {
		return nil, err
	}
	scorer, err := m.m.RowPredictor()
	if err != nil {
		return nil, err
	}
	p := &Predictor{m: m.m, coder: coder, scorer: scorer, columns: coder.Names()}
	p.scratch.New = func() any {
		return &rowScratch{make([]column.Cell, len(m.m.Schema.Columns)), make([]float64, scorer.Width())}
	}
	return p, nil
}

// Columns returns the columns that the model reads, in the order of a row's cells.
func (p *Predictor) Columns() []string {
	if p.isEmpty() {
		return nil
	}
	return append([]string(nil), p.columns...)
}

// Predict returns the predicted value of the label for a row, and a score in [0, 1]. If the label has
// two values, the score is that of the positive value, which is predicted from 1/2 on; otherwise it is
// that of the predicted value. A row with a wrong number of cells, or with a cell that its public
// column cannot hold, is refused with a *ParamError, which never repeats the cell.
func (p *Predictor) Predict(row []Cell) (class string, score float64, err error) {
	if p.isEmpty() {
		return "", 0, missing("predict", "predictor")
	}
	s := p.scratch.Get().(*rowScratch)
	defer p.scratch.Put(s)
	if err := p.scoreRow(row, s, s.scores); err != nil {
		return "", 0, err
	}
	code := p.m.Label(s.scores)
	score = s.scores[0]
	if len(s.scores) > 1 {
		score = s.scores[code]
	}
	return p.m.Schema.Label.Levels[code].Value, score, nil
}

// PredictMap is Predict for a row that maps each of Columns to its value: of a type that TableOf has
// for a field, a Cell, or nil if it is missing. A missing key and an unknown key are refused with a
// *ParamError.
func (p *Predictor) PredictMap(row map[string]any) (class string, score float64, err error) {
	if p.isEmpty() {
		return "", 0, missing("predict", "predictor")
	}
	cells := make([]Cell, len(p.columns))
	for i, name := range p.columns {
		value, given := row[name]
		if !given {
			return "", 0, &dp.ParamError{Op: "predict", Param: fmt.Sprintf("column %q", name),
				Want: "must be a key of the row, with nil for a missing cell" + p.describeNear(row, name)}
		}
		if cell, ok := value.(Cell); ok {
			cells[i] = cell
			continue
		}
		cell, ok := rows.CellOf(value)
		if !ok {
			return "", 0, &dp.ParamError{Op: "predict", Param: fmt.Sprintf("column %q", name),
				Want: "must be of a type that TableOf has for a field, a Cell or nil", Got: reflect.TypeOf(value)}
		}
		cells[i] = Cell{cell}
	}
	if len(row) > len(p.columns) {
		return "", 0, &dp.ParamError{Op: "predict", Param: "row", Want: "must have the model's columns only as its keys",
			Got: strconv.Itoa(len(row)) + " keys", Hint: "Predictor.Columns lists them"}
	}
	return p.Predict(cells)
}

// describeNear returns a hint if the row has a key that differs from name only in letter case, spaces
// or punctuation.
func (p *Predictor) describeNear(row map[string]any, name string) string {
	for key := range row {
		if schema.FoldName(key) == schema.FoldName(name) {
			return "; the row has it with other letter case, spaces or signs"
		}
	}
	return ""
}

// PredictStruct is Predict for a struct, or a pointer to one, with a field for each of Columns. Fields
// are matched as in TableOf. Other fields, such as the label, are not read.
func (p *Predictor) PredictStruct(row any) (class string, score float64, err error) {
	if p.isEmpty() {
		return "", 0, missing("predict", "predictor")
	}
	v := reflect.Indirect(reflect.ValueOf(row))
	if !v.IsValid() {
		return "", 0, missing("predict", "row")
	}
	fields, err := p.fieldsOf(v.Type())
	if err != nil {
		return "", 0, err
	}
	found := make([]coding.Cell, len(fields.Names))
	fields.Cells(v, found)
	cells := make([]Cell, len(p.columns))
	for i, name := range p.columns {
		cells[i] = Cell{found[slices.Index(fields.Names, name)]}
	}
	return p.Predict(cells)
}

// fieldsOf finds the fields of a type, and remembers them.
func (p *Predictor) fieldsOf(t reflect.Type) (*rows.Fields, error) {
	if known, ok := p.fields.Load(t); ok {
		return known.(*rows.Fields), nil
	}
	fields, err := rows.FieldsOf(p.m.Schema, t, true)
	if err != nil {
		return nil, err
	}
	for _, name := range p.columns {
		if !slices.Contains(fields.Names, name) {
			return nil, &dp.ParamError{Op: "predict", Param: fmt.Sprintf("column %q", name), Want: "must be a field of the struct",
				Got: t}
		}
	}
	p.fields.Store(t, fields)
	return fields, nil
}

// Scores writes a row's scores to out: one number if the label has two values, otherwise one per
// value; see Predictions.
func (p *Predictor) Scores(row []Cell, out []float64) error {
	if p.isEmpty() {
		return missing("predict", "predictor")
	}
	if len(out) != p.scorer.Width() {
		return &dp.ParamError{Op: "predict", Param: "scores", Want: "must number " + strconv.Itoa(p.scorer.Width()),
			Got: len(out)}
	}
	s := p.scratch.Get().(*rowScratch)
	defer p.scratch.Put(s)
	return p.scoreRow(row, s, out)
}

func (p *Predictor) scoreRow(row []Cell, s *rowScratch, out []float64) error {
	if len(row) != len(p.columns) {
		return &dp.ParamError{Op: "predict", Param: "row", Want: fmt.Sprintf("must have %d cells", len(p.columns)),
			Got: len(row)}
	}
	for i := range row {
		if _, err := p.coder.Code(i, row[i].c, s.cells); err != nil {
			return err
		}
	}
	p.coder.Derive(s.cells)
	return p.scorer.Scores(s.cells, out)
}

// Zero values and nil pointers of types that this package makes are refused by name.

func (s *Schema) isEmpty() bool    { return s == nil || s.s == nil }
func (t *Table) isEmpty() bool     { return t == nil || t.t == nil || t.s.isEmpty() }
func (l *Ledger) isEmpty() bool    { return l == nil || l.l == nil }
func (m *Model) isEmpty() bool     { return m == nil || m.m == nil }
func (p *Predictor) isEmpty() bool { return p == nil || p.scorer == nil }

func noContext(op string) error {
	return &dp.ParamError{Op: op, Param: "context", Want: "must be given"}
}

func missing(op, param string) error {
	return &dp.ParamError{Op: op, Param: param, Want: "must be given, as this package makes it"}
}
