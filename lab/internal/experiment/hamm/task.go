// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// task is one of the paper's.
type task struct {
	name, title string
	data        string // for the protocol
	load        func(ctx context.Context, w *frame.World) (*dataset.Table, error)
	encoding    feature.Encoding
	parties     int // at most
	rows        int // of each party
	aux, test   int
}

// Parties hold equally many rows, so that more of them are more data, as in the
// theorem.
func newIntrusion() *task {
	return &task{
		name: "intrusion", title: "network intrusion",
		data: "KDD Cup 99, ten-percent file, normal against attack, one-hot encoding",
		load: func(ctx context.Context, w *frame.World) (*dataset.Table, error) {
			return w.Read(ctx, "kdd99.yaml", "kdd99/kddcup.data_10_percent.gz")
		},
		encoding: feature.OneHot, parties: 1000, rows: 20, aux: 4000, test: 4000,
	}
}

func newURLs() *task {
	return &task{
		name: "urls", title: "malicious URLs",
		data: "Phishing Websites (a stand-in for url_svmlight, in kind only), ordinal encoding",
		load: func(ctx context.Context, w *frame.World) (*dataset.Table, error) {
			return w.Read(ctx, "phishing.yaml", "phishing/phishing_websites.csv.gz")
		},
		encoding: feature.Ordinal, parties: 1000, rows: 6, aux: 2500, test: 2500,
	}
}

func newActivity() *task {
	return &task{
		name: "activity", title: "activity recognition",
		data: "HAPT raw signals in windows of 128 samples with 25 computed features, HAR's six activities (a stand-in " +
			"for UCI HAR's 561 features of the same recordings)",
		load:     readWindows,
		encoding: feature.Ordinal, parties: 1000, rows: 6, aux: 2000, test: 2000,
	}
}

func (t *task) describeProtocol() string {
	return fmt.Sprintf("%s. In each repeat the rows are shuffled: %d to test, %d auxiliary without labels, and %d for "+
		"each of up to %d parties, drawn without replacement. "+
		"A party's classifier is logistic regression with scikit-learn's default ridge 1/n (one against the rest for six "+
		"activities); votes are labels. "+
		"Everything protects a whole party. Combiner and learners are the product's own; ridges by its rules, %g for the "+
		"printed forms.", t.data,
		t.test, t.aux, t.rows, t.parties, printedRidge)
}

// dealRows splits the rows of one repeat.
func (t *task) dealRows(all *dataset.Table, src rng.Source) (test, aux *dataset.Table, parties []*dataset.Table) {
	every := make([]int, all.Rows)
	for i := range every {
		every[i] = i
	}
	rows, _ := sample.HoldOut(every, 0, src)
	take := func(n int) *dataset.Table {
		part := all.Subset(rows[:n])
		rows = rows[n:]
		return part
	}
	test, aux = take(t.test), take(t.aux)
	for len(parties) < t.parties && len(rows) >= t.rows {
		parties = append(parties, take(t.rows))
	}
	return test, aux, parties
}
