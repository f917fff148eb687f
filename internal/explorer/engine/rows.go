// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"

	"github.com/discreet-dp/discreet/internal/explorer/planning"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
	"github.com/discreet-dp/discreet/internal/train/heldout"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

// step is the progress of a call: the number of finished steps, and the next one.
type step struct {
	Done int    `json:"done"`
	Of   int    `json:"of"`
	What string `json:"what"`
}

// paid is the account of a call that was already charged.
type paid struct{}

func (paid) Charge(context.Context, dp.Price, []dp.Event) error { return nil }
func (paid) Counted() bool                                      { return true }

// accountOf returns the account of a call: with a job, the caller has already charged it.
func accountOf(job string) guard.Account {
	if job == "" {
		return guard.Uncounted{}
	}
	return paid{}
}

type headerArgs struct {
	Name      string `json:"name"`
	Size      int64  `json:"size"`
	Delimiter string `json:"delimiter"`
}

// readHeader returns the names of the columns of a table. From CSV it reads only the line of names,
// and from Parquet the metadata at the end. The file may hold only the beginning, or for Parquet the
// end, of a larger file of size bytes.
func readHeader(ctx context.Context, a headerArgs, file *File, _ func(any)) (any, error) {
	d := planning.Dialect(a.Delimiter)
	size := file.Size
	reader := file.ReaderAt
	if dataset.FormatOf(a.Name) == dataset.Parquet && a.Size > size {
		reader, size = &tail{file, a.Size}, a.Size
	}
	ctx = dataset.WithFile(ctx, a.Name, reader, size)
	names, err := dataset.ReadHeader(ctx, a.Name, d)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"names": names, "delimiter": string(d.Delimiter)}
	if dataset.FormatOf(a.Name) == dataset.Parquet {
		types, err := dataset.ColumnTypes(ctx, a.Name)
		if err != nil {
			return nil, err
		}
		out["types"] = types
	}
	return out, nil
}

// tail is a Parquet file of which only the end is available. Its beginning is replaced by the mark
// that all Parquet files begin with.
type tail struct {
	end  *File
	size int64
}

func (t *tail) ReadAt(b []byte, at int64) (int, error) {
	if from := t.size - t.end.Size; at >= from {
		return t.end.ReadAt(b, at-from)
	}
	clear(b)
	if at == 0 {
		copy(b, "PAR1")
	}
	return len(b), nil
}

// readTable reads the rows of a file.
func readTable(ctx context.Context, s *schema.Schema, name string, file *File) (*dataset.Table, error) {
	return readTableBy(ctx, s, dataset.Options{}, name, file)
}

func readTableBy(ctx context.Context, s *schema.Schema, opts dataset.Options, name string, file *File) (*dataset.Table, error) {
	return dataset.Read(dataset.WithFile(ctx, name, file, file.Size), s, opts, name)
}

// countUnits returns the number of rows of a table, or of persons if the schema declares those. A bill
// depends on it, so that it is needed before the charge. It is 0 where it is private.
func countUnits(ctx context.Context, a struct {
	YAML string `json:"yaml"`
	Name string `json:"name"`
}, file *File, _ func(any)) (any, error) {
	s, err := schema.Parse([]byte(a.YAML))
	if err != nil {
		return nil, err
	}
	if s.Relation != dp.ReplaceOne {
		return map[string]int{"units": 0}, nil
	}
	t, err := readTable(ctx, s, a.Name, file)
	if err != nil {
		return nil, err
	}
	return map[string]int{"units": t.PublicUnits()}, nil
}

// checkTable counts the cells that a training would repair.
func checkTable(ctx context.Context, a struct {
	YAML string `json:"yaml"`
	Name string `json:"name"`
}, file *File, _ func(any)) (any, error) {
	s, err := schema.Parse([]byte(a.YAML))
	if err != nil {
		return nil, err
	}
	t, err := dataset.Check(dataset.WithFile(ctx, a.Name, file, file.Size), s, dataset.Options{}, a.Name)
	if err != nil {
		return nil, err
	}
	out, err := asMap(t)
	if err != nil {
		return nil, err
	}
	out["misfits"] = append([]string{}, t.Misfits(dataset.Mostly)...)
	if len(t.Faults) > 0 {
		var words []string
		for i := range t.Faults {
			words = append(words, t.Faults[i].Error())
		}
		out["faults"] = words
	}
	return out, nil
}

type trainArgs struct {
	planning.Choice
	Name string `json:"name"`
	Job  string `json:"job"`
}

func trainModel(ctx context.Context, a trainArgs, file *File, tell func(any)) (any, error) {
	r, s, err := a.Read()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	run := &train.Training{Op: "train", Request: r, Schema: s, SchemaText: []byte(a.YAML), Account: accountOf(a.Job),
		Read: func(ctx context.Context) (*dataset.Table, error) {
			tell(step{0, 2, "Reading the rows"})
			t, err := readTable(ctx, s, a.Name, file)
			tell(step{1, 2, "Training"})
			return t, err
		}}
	m, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	text, err := model.Marshal(m)
	if err != nil {
		return nil, err
	}
	tell(step{2, 2, "Trained"})
	return map[string]any{"model": string(text), "statement": splitLines(m.Privacy.Card()), "questions": explain.Questions(m),
		"seconds": time.Since(began).Seconds()}, nil
}

type evaluateArgs struct {
	Model     string `json:"model"`
	YAML      string `json:"yaml"`
	Name      string `json:"name"`
	Epsilon   string `json:"epsilon"`
	Delta     string `json:"delta"`
	Threshold string `json:"threshold"`
	Costs     string `json:"costs"`
	Job       string `json:"job"`
}

func evaluateModel(ctx context.Context, a evaluateArgs, file *File, tell func(any)) (any, error) {
	m, err := model.Unmarshal([]byte(a.Model))
	if err != nil {
		return nil, err
	}
	tell(step{0, 1, "Reading the rows"})
	if a.Epsilon != "" {
		return a.evaluatePrivately(ctx, m, file)
	}
	text := a.Threshold
	if a.Costs != "" {
		text = "costs=" + a.Costs
	}
	threshold, err := predict.ParseThreshold(text)
	if err != nil {
		return nil, err
	}
	var from func([]float64) float64
	if threshold.Given() && m.Width() == 1 {
		from = func(scores []float64) float64 { return threshold.At(m, scores) }
	}
	t, err := readTableBy(ctx, m.Schema, dataset.Options{Count: true}, a.Name, file)
	if err != nil {
		return nil, err
	}
	r, err := heldout.Evaluate(m, t, from)
	if err != nil {
		return nil, err
	}
	out, err := asMap(r)
	placeGroups(out)
	out["cells"] = coding.DescribeUndeclared(m.Schema, r.Undeclared, r.Rows)
	if err != nil || r.Ranking == nil {
		return out, err
	}
	if x := r.Ranking.Threshold; x != nil {
		out["threshold"], out["precision"], out["recall"] = *x, r.Ranking.Precision, r.Ranking.Recall
	}
	out["roc"] = r.Curve()
	return out, nil
}

// evaluatePrivately evaluates privately. The price was already charged if the arguments name a job.
func (a *evaluateArgs) evaluatePrivately(ctx context.Context, m *model.Model, file *File) (any, error) {
	p := evaluation.Params{Models: []*model.Model{m}}
	var err error
	if p.Epsilon, err = dp.ParseEpsilon(a.Epsilon); err == nil && a.Delta != "" && a.Delta != "0" {
		p.Delta, err = dp.ParseDelta(a.Delta)
	}
	if err != nil {
		return nil, err
	}
	choice, err := readChoice(a.Costs)
	if err != nil {
		return nil, err
	}
	threshold, err := predict.ParseThreshold(a.Threshold)
	if err != nil {
		return nil, err
	}
	p.Threshold = threshold.Fixed(m)
	choice.Rate = threshold.Rate()
	s, text := m.Schema, []byte(nil)
	if a.YAML != "" {
		text = []byte(a.YAML)
		if s, err = schema.Parse(text); err != nil {
			return nil, err
		}
	} else if text, err = s.YAML(); err != nil {
		return nil, err
	}
	if err := choice.Check(s.Classes(), 1); err != nil {
		return nil, err
	}
	run := &train.Evaluation{Params: p, Training: train.Training{Op: "evaluate", Schema: s, SchemaText: text,
		Account: accountOf(a.Job), Read: func(ctx context.Context) (*dataset.Table, error) {
			return readTable(ctx, s, a.Name, file)
		}}}
	released, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := released.Marshal()
	if err != nil {
		return nil, err
	}
	return describeRelease(kept, choice)
}

// readReleased describes what an evaluation released before.
func readReleased(a struct {
	Released string `json:"released"`
	Costs    string `json:"costs"`
}) (any, error) {
	choice, err := readChoice(a.Costs)
	if err != nil {
		return nil, err
	}
	return describeRelease([]byte(a.Released), choice)
}

// readChoice reads the costs that choose a threshold; "" for none.
func readChoice(costs string) (choice evaluation.Choice, err error) {
	if costs != "" {
		choice.Costs, err = evaluation.ParseCosts(costs)
	}
	return choice, err
}

type compareArgs struct {
	Models []string `json:"models"`
	Name   string   `json:"name"`
}

func compareModels(ctx context.Context, a compareArgs, file *File, tell func(any)) (any, error) {
	if len(a.Models) != 2 {
		return nil, dp.Refuse("compare", "models", "must be two", len(a.Models))
	}
	out := map[string]any{"private": false}
	for i, text := range a.Models {
		tell(step{i, 2, "Reading the rows"})
		one, err := evaluateModel(ctx, evaluateArgs{Model: text, Name: a.Name}, file, func(any) {})
		if err != nil {
			return nil, err
		}
		out[string(rune('a'+i))] = one
	}
	return out, nil
}
