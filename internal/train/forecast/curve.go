// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// CurveOptions are the options of a curve.
type CurveOptions struct {
	Rows      int     // of each invented table, 1 to 1,000,000
	Positives float64 // share of the positive class, if the label has two classes
	// Strength is the AUC of a perfect model under the law, in (0.5, 1). It is a guess from public
	// knowledge, such as a published model of the same label.
	Strength float64
	Epsilons []string // as they are typed
	// Done is called with each point as soon as it is known. It may be nil.
	Done func(Point)
}

// Point is a mean AUC at one price, with the range that contains at least four of five single trainings.
type Point struct {
	Epsilon float64 `json:"epsilon"`
	AUC     float64 `json:"auc"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

const (
	curveTables = 3 // invented rows; each is labelled by a law of each decay
	maxPoints   = 50
	// curveDeviations is half the width of the range, in standard deviations between trainings. On the tables of
	// evidence/benchmarks/README.md it contains 87 to 93 % of trainings.
	curveDeviations = 2
)

// decays say how fast effects fall from column to column: the k-th best column has the weight k to the power of minus the
// decay. Nobody knows it of a table beforehand, so that a forecast averages over it, and its range contains it.
var decays = []float64{0.5, 1, 1.5, 2, 3}

// Curve trains the choice at several prices on tables invented from the schema. All prices use the same tables. Curve reads
// no data and spends nothing.
func Curve(ctx context.Context, choice train.Choice, s *schema.Schema, o CurveOptions) ([]Point, error) {
	return curve(ctx, choice, s, o, rng.System())
}

func curve(ctx context.Context, choice train.Choice, s *schema.Schema, o CurveOptions, src rng.Source) ([]Point, error) {
	refuse := func(param, want string, got any) error {
		return &train.RequestError{Err: &dp.ParamError{Op: "plan", Param: param, Want: want, Got: got}}
	}
	switch {
	case o.Rows < 1 || o.Rows > maxRows:
		return nil, refuse("rows", "must be from 1 to 1000000", o.Rows)
	case !(o.Positives > 0 && o.Positives < 1):
		return nil, refuse("positives", "must be a share between 0 and 1", o.Positives)
	case len(o.Epsilons) == 0 || len(o.Epsilons) > maxPoints:
		return nil, refuse("epsilons", fmt.Sprintf("must number 1 to %d", maxPoints), len(o.Epsilons))
	case !(o.Strength > 0.5 && o.Strength < 1):
		return nil, refuse("strength", "must be an AUC above 0.5 and below 1", o.Strength)
	}
	exit := mech.NewExit(src)
	points, tasks := []Point{}, []*task(nil)
	for _, eps := range o.Epsilons {
		choice.Price.Epsilon = eps
		r, err := choice.Request("plan")
		if err != nil {
			return nil, err
		}
		if r.Price.Epsilon == 0 {
			return nil, refuse("epsilon", "must be finite and above 0", eps)
		}
		if _, err := r.Plan(s, o.Rows); err != nil {
			return nil, err
		}
		if tasks == nil {
			if tasks, err = inventTasks(ctx, r, s, o, src); err != nil {
				return nil, err
			}
		}
		var aucs []float64
		for _, t := range tasks {
			auc, err := (&trial{exit: exit}).measure(ctx, r, t.rows, t.judged, t.chances)
			if err != nil {
				return nil, err
			}
			aucs = append(aucs, auc)
		}
		m := newMean(aucs)
		p := Point{Epsilon: r.Price.Epsilon.Float(), AUC: m.Mean, Low: math.Max(0, m.Mean-curveDeviations*m.StdDev),
			High: math.Min(1, m.Mean+curveDeviations*m.StdDev)}
		points = append(points, p)
		if o.Done != nil {
			o.Done(p)
		}
	}
	return points, nil
}

// task is a table to train on, and another to evaluate on.
type task struct {
	rows, judged *dataset.Table
	chances      [][]float64 // probabilities of the classes, by row of judged
}

// inventTasks invents tables whose labels depend on every column that can influence them, by laws of all decays.
func inventTasks(ctx context.Context, r *train.Request, s *schema.Schema, o CurveOptions, src rng.Source) (out []*task, err error) {
	var columns []int
	for j, c := range s.FileColumns() {
		if c.Role == schema.Public || c.Role == schema.Private && !r.PublicOnly {
			columns = append(columns, j)
		}
	}
	if len(columns) == 0 {
		return nil, &train.RequestError{Err: &dp.ParamError{Op: "plan", Param: "schema", Want: "must have a column to learn from"}}
	}
	for range curveTables {
		people, err := inventPeople(ctx, s, src, o.Rows, judgeRows)
		if err != nil {
			return nil, err
		}
		for _, decay := range decays {
			weights := map[int]float64{}
			for k, j := range (&trial{columns: columns, src: src}).shuffled() {
				weights[j] = math.Pow(float64(k+1), -decay)
			}
			l, t := newLaw(s, weights, o.Strength, o.Positives, people[1], src), &task{}
			t.rows, _ = l.deal(people[0], src)
			t.judged, t.chances = l.deal(people[1], src)
			out = append(out, t)
		}
	}
	return out, nil
}
