// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// writtenSchema is a schema of a few columns of each kind and a label of so many values.
func writtenSchema(t *testing.T, relation, labelRole string, classes int, person bool) *schema.Schema {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "name: t\nunit: one visit\nrelation: %s\n", relation)
	if person {
		b.WriteString("person: {column: who, rows: 3}\n")
	}
	b.WriteString("file: {delimiter: \",\", quote: \"\", header: true}\ncolumns:\n")
	if person {
		b.WriteString("  - {name: who, role: ignored}\n")
	}
	featureRole := "public"
	if labelRole == "public" {
		featureRole = "private"
	}
	fmt.Fprintf(&b, "  - {name: x, role: private, number: {lower: 0, upper: 10.5, default: 0}}\n"+
		"  - {name: z, role: %s, number: {lower: -1, upper: 1, default: 0}}\n"+
		"  - {name: c, role: private, category: {levels: [a, b, d]}}\n", featureRole)
	levels := []string{}
	for k := range classes {
		levels = append(levels, fmt.Sprintf("k%d", k))
	}
	fmt.Fprintf(&b, "  - {name: y, role: %s, label: {levels: [%s], default: k0", labelRole, strings.Join(levels, ", "))
	if classes == 2 {
		b.WriteString(", positive: k1")
	}
	b.WriteString("}}\n")
	s, err := schema.Parse([]byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return s
}

func writtenRows(rows, classes int, person bool, r *rand.Rand) string {
	var b strings.Builder
	if person {
		b.WriteString("who,")
	}
	b.WriteString("x,z,c,y\n")
	for i := range rows {
		if person {
			fmt.Fprintf(&b, "p%d,", i/2)
		}
		k := r.IntN(classes)
		fmt.Fprintf(&b, "%.2f,%.2f,%s,k%d\n", 10*r.Float64()/float64(1+k), 2*r.Float64()-1,
			[]string{"a", "b", "d", "e"}[r.IntN(4)], k)
	}
	return b.String()
}

// TestAcceptedPlansAreWritten searches prices, tables and learners for a plan that is accepted, so
// that it would be charged, and whose model cannot be fitted or written.
func TestAcceptedPlansAreWritten(t *testing.T) {
	runs := size.Of(20, 120)
	for _, name := range LearnerNames() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(31, uint64(len(name))))
			accepted, low := 0, math.Inf(1)
			for i := range runs {
				eps := math.Pow(10, -9+15*r.Float64())
				if i%2 == 0 {
					eps = math.Pow(10, -9+4*r.Float64())
				}
				classes := []int{2, 2, 3, 5}[r.IntN(4)]
				person := r.IntN(5) == 0
				relation := []string{"replace-one", "add-remove"}[r.IntN(2)]
				s := writtenSchema(t, relation, []string{"private", "public"}[r.IntN(2)], classes, person)
				price := PriceText{Epsilon: strconv.FormatFloat(eps, 'f', 9, 64)}
				if r.IntN(2) == 0 {
					price.Delta = strconv.FormatFloat(math.Pow(10, -15+14*r.Float64()), 'f', 15, 64)
				}
				req, err := Choice{Learner: name, Price: price}.Request("train")
				if err != nil {
					continue
				}
				rows := []int{1, 2, 7, 40, 300}[r.IntN(5)]
				text := writtenRows(rows, classes, person, r)
				run := &Training{Op: "train", Request: req, Schema: s, Exceed: true,
					Read: func(ctx context.Context) (*dataset.Table, error) {
						return dataset.Read(ctx, s, dataset.Options{Stdin: strings.NewReader(text)}, "-")
					}}
				if run.Check() != nil {
					continue
				}
				paid := &charged{}
				run.Account = paid
				m, err := run.Run(t.Context())
				if err != nil && !paid.yes {
					continue // refused for what is public
				}
				if err == nil {
					_, err = model.Marshal(m)
				}
				if err != nil {
					t.Errorf("epsilon %s, delta %s, %d rows, %d classes, %s, person %v: charged, then %v", price.Epsilon,
						price.Delta, rows, classes, relation, person, err)
				}
				accepted++
				low = min(low, eps)
			}
			if l := findLearner(name); l.Private && (accepted < runs/20 || low > 1e-5) {
				t.Errorf("%d plans were accepted, from epsilon = %.2g on: too few to find anything", accepted, low)
			}
		})
	}
}

// charged is an account that notes whether it was charged.
type charged struct{ yes bool }

func (c *charged) Charge(context.Context, dp.Price, []dp.Event) error { c.yes = true; return nil }
func (c *charged) Counted() bool                                      { return true }
