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
	curveTables = 3 // invented, at most; each is labelled by a law of each decay
	maxPoints   = 50
	// allDeviations is half the width of the range, in standard deviations between the trainings on all tables. On the
	// tables of evidence/benchmarks/README.md it contains 87 to 93 % of trainings.
	allDeviations = 2
	// oneDeviations is the same between those on one table: so many more contain as much of a normal law (Student's t).
	oneDeviations = 2.65
	// A point whose range from one table is as narrow to either side gets no others: more would not be seen in a chart,
	// and where little noise is left trainings take longest.
	narrow = 0.03
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
	points, tables := []Point{}, [][]*task(nil)
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
		p, err := rangeOf(func(k int) (aucs []float64, err error) {
			if k == len(tables) {
				tasks, err := inventTasks(ctx, r, s, o, src)
				if err != nil {
					return nil, err
				}
				tables = append(tables, tasks)
			}
			for _, t := range tables[k] {
				auc, err := (&trial{exit: exit}).measure(ctx, r, t.rows, t.judged, t.chances)
				if err != nil {
					return nil, err
				}
				aucs = append(aucs, auc)
			}
			return aucs, nil
		})
		if err != nil {
			return nil, err
		}
		p.Epsilon = r.Price.Epsilon.Float()
		points = append(points, p)
		if o.Done != nil {
			o.Done(p)
		}
	}
	return points, nil
}

// rangeOf returns the mean and the range of trainings on invented tables. try trains on the k-th table, by all decays.
func rangeOf(try func(k int) ([]float64, error)) (Point, error) {
	var all []float64
	point := func(deviations float64) Point {
		m := newMean(all)
		half := deviations * m.StdDev
		return Point{AUC: m.Mean, Low: math.Max(0, m.Mean-half), High: math.Min(1, m.Mean+half)}
	}
	for k := range curveTables {
		aucs, err := try(k)
		if err != nil {
			return Point{}, err
		}
		all = append(all, aucs...)
		if p := point(oneDeviations); k == 0 && p.High-p.Low <= 2*narrow {
			return p, nil
		}
	}
	return point(allDeviations), nil
}

// task is a table to train on, and another to evaluate on.
type task struct {
	rows, judged *dataset.Table
	chances      [][]float64 // probabilities of the classes, by row of judged
}

// inventTasks invents a table, once with labels by a law of each decay. They depend on every column that can influence
// them.
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
	return out, nil
}
