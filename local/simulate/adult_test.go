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

// 32,561 owners of one record each at ε = 1. The best published figure for local
// privacy is an AUC of .741 (a Gaussian histogram, δ > 0). Ours averages .826
// with standard deviation .018 over 40 runs; eight runs average below .78 with a
// probability below 1e-9 if they are normal.
func TestAdultBeatsThePublishedFigure(t *testing.T) {
	train, test := adult(t)
	sum := 0.0
	const runs = 8
	for i := range uint64(runs) {
		res, err := Run(context.Background(), train, Params{Classifier: wire.Stump, Epsilon: dp.Nano, Source: seeded(i)})
		if err != nil {
			t.Fatal(err)
		}
		sum += *evaluate(t, res.Model, test).AUC
	}
	if mean := sum / runs; !(mean > 0.78) {
		t.Errorf("AUC %.4f on average, want above .78", mean)
	}
}
