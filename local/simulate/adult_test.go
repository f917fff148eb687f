// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/local/wire"
	"github.com/discreet-dp/discreet/metrics"
	"github.com/discreet-dp/discreet/schema"
)

func adult(t *testing.T) (train, test *dataset.Table) {
	dir := os.Getenv("DISCREET_DATASETS")
	if dir == "" {
		dir = "../../../shared/datasets"
	}
	if _, err := os.Stat(filepath.Join(dir, "adult")); err != nil {
		t.Skip("needs the Adult data set: set DISCREET_DATASETS")
	}
	s, err := schema.Load("../../examples/adult.yaml")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) *dataset.Table {
		tab, err := dataset.Read(context.Background(), s, dataset.Options{}, filepath.Join(dir, "adult", name))
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	return read("adult.data.gz"), read("adult.test.gz")
}

func TestAdultTry(t *testing.T) {
	train, test := adult(t)
	for _, c := range []wire.Classifier{wire.Stump, wire.Logistic, wire.Centroid} {
		for _, mech := range []string{"", "piecewise", "duchi"} {
			for run := range 2 {
				res, err := Run(context.Background(), train, Params{Classifier: c, Mechanism: mech, Epsilon: dp.Nano})
				if err != nil {
					t.Fatal(c, mech, err)
				}
				scores, err := res.Model.Scores(test.Cols, test.Rows)
				if err != nil {
					t.Fatal(c, err)
				}
				if _, err := res.Model.Bind(test.Schema); err != nil {
					t.Fatal(err)
				}
				s, err := metrics.Evaluate(test.Labels, scores, []string{"a", "b"}, 1)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s %q %d acc %.3f bal %.3f auc %.3f %+v %.3g", c, mech, run, s.Accuracy, s.BalancedAccuracy, *s.AUC, res.Rounds, res.Reach)
			}
		}
	}
}
