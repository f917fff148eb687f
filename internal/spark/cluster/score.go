// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/spark"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

// job holds what a worker needs to score rows.
type job struct {
	Model    []byte  `json:"model"` // the file
	Explain  bool    `json:"explain,omitempty"`
	Class    string  `json:"class,omitempty"`
	Interval bool    `json:"interval,omitempty"`
	From     float64 `json:"from"` // see predict.Params.Columns
}

// scorer scores rows in Parquet.
type scorer struct {
	p    predict.Params
	m    *model.Model
	from float64
}

// ServeWorker is the work of the executors of a cluster in train and predict.
func ServeWorker(ctx context.Context, in io.Reader, out io.Writer) error {
	return spark.ServeWorker(ctx, in, out, func(text []byte) (spark.Scorer, error) {
		var j job
		if err := json.Unmarshal(text, &j); err != nil {
			return nil, fmt.Errorf("predict: a malformed message: %w", err)
		}
		m, err := model.Unmarshal(j.Model)
		if err != nil {
			return nil, err
		}
		sc := &scorer{predict.Params{Explain: j.Explain, Class: j.Class, Interval: j.Interval}, m, j.From}
		return sc.score, sc.p.Check(m)
	})
}

// columns returns the columns to add to the rows in a Parquet file.
func (sc *scorer) columns(ctx context.Context, name string, rows []byte) (*dataset.Table, []dataset.Added, error) {
	t, err := dataset.ReadParquet(ctx, sc.m.Schema, dataset.Options{Labels: dataset.LabelsIgnored}, name, rows)
	if err != nil {
		return nil, nil, err
	}
	added, err := sc.p.Columns(sc.m, t, sc.from)
	return t, added, err
}

func (sc *scorer) score(ctx context.Context, name string, rows []byte) ([]byte, error) {
	t, added, err := sc.columns(ctx, name, rows)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = dataset.WriteAdded(&out, sc.m.Schema, t.Rows, added)
	return out.Bytes(), err
}

// The places in which rows can be scored.
const (
	EngineMemory = "memory" // on this machine
	EngineSpark  = "spark"  // by a cluster, which writes the result
)

// Place selects where rows are scored.
type Place struct {
	Engine         string // "" for EngineMemory
	Master, Submit string // see spark.Options
}

// Check returns a *dp.ParamError for what can be refused before the model is read.
func (at *Place) Check(p predict.Params, out string) error {
	bad := func(param, want, got string) error {
		return &dp.ParamError{Op: "predict", Param: param, Want: want, Got: strconv.Quote(got)}
	}
	isSpark := at.Engine == EngineSpark
	switch {
	case !isSpark && at.Engine != EngineMemory && at.Engine != "":
		return bad("engine", "must be memory or spark", at.Engine)
	case !isSpark && at.Master+at.Submit != "":
		return bad("engine", "must be spark if a cluster is given", at.Engine)
	case isSpark && (out == "-" || strings.HasSuffix(out, ".csv")):
		return bad("out", "must be a folder for Parquet files with engine spark", out)
	case isSpark && p.Threshold.NeedsScores():
		return bad("threshold", "must be a score or costs with engine spark, because no machine has all scores", "rate")
	}
	return nil
}

// Write writes the rows of the source, whose paths Spark opens, with the model's predictions for each,
// as predict.Params.Write does, to a folder of Parquet files. It counts the predictions, but no
// cells. show displays the cluster's jobs, and may be nil.
func (at *Place) Write(ctx context.Context, p predict.Params, m *model.Model, src *predict.Source, out string,
	show func(job string) (done func())) (*predict.Tally, error) {
	o := spark.Options{Master: at.Master, Submit: at.Submit, Data: src.Paths}
	defer o.ShowJobs(show)()
	extra := src.Options.Extra
	sc := &scorer{p, m, p.Threshold.At(m, nil)}
	ask := spark.Scoring{Out: out, Drop: extra == dataset.ExtraDropped}
	for _, c := range m.Schema.FileColumns() {
		ask.Known = append(ask.Known, c.Name)
		if c.Role != schema.Ignored {
			ask.Columns = append(ask.Columns, c.Name)
		}
	}
	if ask.Known = append(ask.Known, m.Schema.Label.Name); extra == dataset.ExtraKept {
		ask.Known = nil
	}
	var none bytes.Buffer // what is added is the same for a table without rows
	if err := dataset.WriteEmpty(&none, m.Schema, ask.Columns); err != nil {
		return nil, err
	}
	_, added, err := sc.columns(ctx, "no rows", none.Bytes())
	if err != nil {
		return nil, err
	}
	for _, a := range added {
		ask.Added = append(ask.Added, spark.Column{Name: a.Name, Number: a.Number != nil})
	}
	file, err := model.Marshal(m)
	if err != nil {
		return nil, err
	}
	if ask.Job, err = json.Marshal(job{file, p.Explain, p.Class, p.Interval, sc.from}); err != nil {
		return nil, err
	}
	counts, err := spark.Score(ctx, o, ask)
	if err != nil {
		return nil, err
	}
	t := predict.NewTally(m, sc.from)
	for _, c := range counts {
		if err := t.Add(c.Value, c.Rows, c.Sum); err != nil {
			return nil, err
		}
	}
	return &t, nil
}
