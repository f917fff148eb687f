// SPDX-License-Identifier: Apache-2.0

// Package engine answers the calls of the explorer's page: a name and JSON in, JSON out. It is plain
// Go, so that tests call it as the page does. A call has access to its arguments only; planning calls
// have no file.
//
//	version  {} → {version}
//	header   {name} and a file → {names, types}
//	draft    {names or count, types?, label?, codebook?, accept?, delimiter?, headless?} → {yaml}
//	inspect  {yaml} → {problems, missing, columns, label?, name?, unit?, relation?, person?, header?, trim?, missing_cells?}
//	edit     {yaml, changes: {column, set}…} → {yaml}; column "" is the table: name, unit, relation, person, trim, missing
//	plan     {yaml, learner, options?, epsilon, delta, rows?} → see planning.Plan
//	forecast {yaml, learner, options?, delta, rows, positives, strength?, epsilons} → {points}; each point is reported
//	check    {yaml, name} and a file → {rows, columns, misfits, faults?}: exact counts of cells, not private
//	train    {yaml, learner, options?, epsilon, delta, name, job?} and a file → {model, statement, questions?, seconds}
//	explain  {model} → see Explained
//	score    {model, row} → {probability or probabilities, class, contributions}
//	evaluate {model, yaml?, name, epsilon?, delta?, threshold?, costs?, job?} and a file → numbers
//	released {released, costs?} → the numbers of a private evaluation, from what it released
//	compare  {models, name} and a file → {a, b}
//	card     {model, about?} → {html, yaml}
//	export   {model, format} → a file
//
// A file is the table of a header, a training or an evaluation. A call with a job was charged by the
// server of the page, and its result states so.
package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/discreet-dp/discreet/internal/explorer/planning"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/train/forecast"
)

// File is a file that the page holds.
type File struct {
	io.ReaderAt
	Size int64
}

// Download is a file that a call makes.
type Download struct {
	Name  string
	Bytes []byte
}

// Engine answers calls.
type Engine struct {
	// Program is the program's name and version, as cards show it.
	Program string
}

// Call answers one call. file may be nil; tell receives progress before Call returns.
func (e *Engine) Call(ctx context.Context, name string, args []byte, file *File, tell func(any)) (any, error) {
	switch name {
	case "version":
		return map[string]string{"version": e.Program}, nil
	case "draft":
		return answer(args, planning.Draft)
	case "inspect":
		return answer(args, func(t planning.Text) (any, error) { return planning.Inspect(t), nil })
	case "edit":
		return answer(args, planning.Edit)
	case "plan":
		return answer(args, planning.MakePlan)
	case "forecast":
		return answer(args, func(a planning.ForecastArgs) (any, error) {
			return planning.Forecast(ctx, a, func(p forecast.Point) { tell(p) })
		})
	case "explain":
		return answer(args, explainModel)
	case "score":
		return answer(args, scoreRow)
	case "released":
		return answer(args, readReleased)
	case "card":
		return answer(args, e.writeCard)
	case "export":
		return answer(args, exportModel)
	case "header":
		return answerFrom(ctx, name, args, file, tell, readHeader)
	case "count":
		return answerFrom(ctx, name, args, file, tell, countUnits)
	case "check":
		return answerFrom(ctx, name, args, file, tell, checkTable)
	case "train":
		return answerFrom(ctx, name, args, file, tell, trainModel)
	case "evaluate":
		return answerFrom(ctx, name, args, file, tell, evaluateModel)
	case "compare":
		return answerFrom(ctx, name, args, file, tell, compareModels)
	}
	return nil, dp.Refuse("explorer", "call", "must be one of those known here", strconv.Quote(name))
}

// answer decodes the arguments of a call and answers it. Its own errors do not quote the arguments,
// because they may contain a row.
func answer[A, R any](args []byte, f func(A) (R, error)) (any, error) {
	var a A
	if json.NewDecoder(bytes.NewReader(args)).Decode(&a) != nil {
		return nil, dp.Refuse("explorer", "arguments", "must be of the types that the call takes", nil)
	}
	return f(a)
}

// answerFrom is answer for a call that reads a file.
func answerFrom[A any](ctx context.Context, name string, args []byte, file *File, tell func(any),
	f func(context.Context, A, *File, func(any)) (any, error)) (any, error) {
	if file == nil {
		return nil, dp.Refuse("explorer", "bytes", "must be given: "+name+" reads a file", nil)
	}
	return answer(args, func(a A) (any, error) { return f(ctx, a, file, tell) })
}

// Problem is an error in the form that the page shows.
type Problem struct {
	Message   string `json:"message"`
	Parameter string `json:"parameter,omitempty"`
}

// Describe converts an error to a Problem.
func Describe(err error) Problem {
	p := Problem{Message: planning.Words(err)}
	if refused, ok := errors.AsType[*dp.ParamError](err); ok {
		p.Parameter = refused.Param
	}
	return p
}
