// SPDX-License-Identifier: Apache-2.0

package question_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// someQuestions has one of every kind.
func someQuestions(t testing.TB) (texts [][]byte) {
	s := census.Schema()
	sp, err := feature.NewSpace(s, feature.OneHot, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	number, category := feature.NewBins(s, 0, []float64{30, 50}), feature.NewBins(s, 1, nil)
	score := &feature.Additive{Intercept: 0.1, Shapes: []feature.Shape{{Bins: number, Steps: []float64{-1, 0, 1}}},
		Clip: &feature.Clip{Shapes: 1, Low: -1, High: 0.5}}
	classes := statistic.NewStepScore([]float64{0.5, -0.25})
	shape := &feature.LevelShape{Bins: number, Steps: [][]float64{{1, 2, 3}, {3, 2, 1}}}
	classes.AddShape(shape, 0.5)
	grid := statistic.NewStepScore([]float64{0.5})
	grid.AddGrid(feature.Grid{Axes: []feature.Bins{number}}, []float64{1, 2, 3})
	for _, q := range []question.Question{
		{Kind: question.Mistakes, Space: sp, Thresholds: []feature.Threshold{{Coef: make([]float64, sp.Width()), Bias: 0.3}}},
		{Kind: question.Groups, Columns: []int{1, 0}},
		{Kind: question.Groups},
		{Kind: question.Sum, Statistic: statistic.Cells{Under: score, Bins: []feature.Bins{number, category,
			feature.Cross(number, category), feature.CutScore(score, []float64{-0.5, 0.5})}, Caps: statistic.Caps{100, 7}}},
		{Kind: question.Sum, Against: 1, Statistic: statistic.Cells{Bins: []feature.Bins{number}, Caps: statistic.FullCaps}},
		{Kind: question.Sum, Statistic: statistic.ClassCells{Bins: []feature.Bins{number, category}}},
		{Kind: question.Sum, Statistic: statistic.ClassSlope{Under: classes, Along: shape, Most: 2}},
		{Kind: question.Sum, Statistic: statistic.ClassResiduals{Under: classes, Bins: number}},
		{Kind: question.Sum, Statistic: statistic.GridSlopes{Under: grid, Limit: statistic.SlopeLimit{Most: 0.5},
			Grids: []feature.Grid{{Axes: []feature.Bins{number, category}}}}},
		{Kind: question.Sum, Statistic: solver.Losses{Space: sp, Loss: engine.Loss{Huber: 0.5},
			Rows: engine.Rows{Scale: 0.4, Norm: 0.7, Weights: []float64{1, 0.3}}, Coef: make([]float64, sp.Width()+1),
			Value: true, Hess: true, Halvings: 2}},
		{Kind: question.Sum, Statistic: solver.Right{Space: sp, Cuts: engine.Cuts{First: -1, Step: 0.5, Count: 9},
			Coef: make([]float64, sp.Width()+1)}},
	} {
		if q.Against == 0 {
			q.Against = engine.WholeLabel
		}
		text, err := question.Encode(&q)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

// Whatever a question says, it is refused or answered, and it is asked again in the same words.
func FuzzQuestion(f *testing.F) {
	for _, text := range someQuestions(f) {
		f.Add(text)
	}
	rows, err := memory.New(censustest.Table(1, 60))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		q, err := question.Decode(rows.Schema(), text)
		if err != nil {
			return
		}
		again, err := question.Encode(q)
		if err != nil {
			t.Fatal(err)
		}
		back, err := question.Decode(rows.Schema(), again)
		if err != nil {
			t.Fatalf("%s is refused: %v", again, err)
		}
		sums, err := question.AnswerFrom(context.Background(), rows, q)
		if err != nil {
			return
		}
		same, err := question.AnswerFrom(context.Background(), rows, back)
		if err != nil || !bytes.Equal(sums.Encode(), same.Encode()) {
			t.Fatalf("the same question has another answer: %v", err)
		}
	})
}

// An answer that can be read is written in one way.
func FuzzSums(f *testing.F) {
	rows, err := memory.New(censustest.Table(1, 60))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range someQuestions(f) {
		q, err := question.Decode(rows.Schema(), text)
		if err != nil {
			f.Fatal(err)
		}
		sums, err := question.AnswerFrom(context.Background(), rows, q)
		if err != nil {
			f.Fatalf("%s: %v", text, err)
		}
		f.Add(sums.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sums, err := question.DecodeSums(b)
		if err != nil {
			return
		}
		back, err := question.DecodeSums(sums.Encode())
		if err != nil || !reflect.DeepEqual(back, sums) {
			t.Fatalf("%+v became %+v, %v", sums, back, err)
		}
	})
}

// A message of another version is refused by its number.
func TestOtherVersionsAreRefused(t *testing.T) {
	for _, version := range []int{question.Version - 1, question.Version + 1} {
		text := bytes.Replace(someQuestions(t)[0], fmt.Appendf(nil, `"Version":%d`, question.Version),
			fmt.Appendf(nil, `"Version":%d`, version), 1)
		want := fmt.Sprintf(" of version %d, this is version %d", version, question.Version)
		if _, err := question.Decode(census.Schema(), text); err == nil || err.Error() != "question: question"+want {
			t.Errorf("error %v", err)
		}
		if _, err := question.DecodeSums([]byte{byte(version), 0, 0, 0, 0}); err == nil || err.Error() != "question: answer"+want {
			t.Errorf("error %v", err)
		}
	}
}

// Answers of few rows and of none are read, however wide their keys are.
func TestAnswersOfFewRows(t *testing.T) {
	for _, want := range []*question.Sums{
		{Words: 9, Counters: 5},
		{Words: 9, Counters: 1, Keys: make([]uint64, 9), Counts: []uint64{1}},
		{Plain: []int64{3}},
		{},
	} {
		if got, err := question.DecodeSums(want.Encode()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	}
}
