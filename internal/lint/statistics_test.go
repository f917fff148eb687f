// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lint/private"
)

const modulePath = "github.com/discreet-dp/discreet"

// TestStatistics holds learners to the rules of private statistics.
func TestStatistics(t *testing.T) {
	bad, stale, err := private.Check(root, statisticRules(modulePath), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range bad {
		t.Error(one)
	}
	for _, name := range stale {
		t.Error(name)
	}
}

type plantedStatistic struct{ bug, file, function, old, with, want string }

// plantedStatistics are ways in which a learner could let a private number decide or show: each is
// planted at once, in a function of its own, where the rules must find it.
var plantedStatistics = []plantedStatistic{
	{"boosting stops when the exact training error is zero", "internal/learn/brc/fit.go", "learn/brc.Plan.Fit",
		"wrong, right := rows.sumWeights(k)",
		"wrong, right := rows.sumWeights(k)\n\t\tif t > 0 && wrong == 0 {\n\t\t\tbreak\n\t\t}",
		"what happens next"},
	{"an exact error in place of a noisy one, without a branch", "internal/learn/brc/private.go",
		"learn/brc.release.appendVoter", "return min(1, max(0, out[0]/total))",
		"return float64(wrong) / float64(wrong+right)",
		"becomes part of model.Member"},
	{"random stopping of tune ends at a candidate without a mistake", "internal/tune/fit.go", "tune.Plan.stopAtRandom",
		"at, m, least = i, candidate, noisy",
		"at, m, least = i, candidate, noisy\n\t\t\tif loss.Num == 0 {\n\t\t\t\tbreak\n\t\t\t}",
		"what happens next"},
	{"a class that no row has is known to be empty", "internal/learn/additive/release.go",
		"learn/additive.fit.releaseClasses",
		"\treturn f.releaseNoisy(label, p, pl.classSensitivity(), values), nil\n",
		"\tout := f.releaseNoisy(label, p, pl.classSensitivity(), values)\n" +
			"\tfor k := range out {\n" +
			"\t\tif values[k].Num == 0 {\n\t\t\tout[k] = 0\n\t\t}\n\t}\n\treturn out, nil\n",
		"what happens next"},
	{"a public column beside a private label is cut by its positive rows", "internal/learn/additive/labels.go",
		"table/feature.Halve", "rows[b] += d.rows[g]", "rows[b] += float64(d.positive[g])", "what happens next"},
	{"the rows of each class are counted where a noisy fit says them", "internal/learn/additive/labels.go",
		"learn/additive.scaleOffset", "pos[g], neg[g] = rows*p, rows*(1-p)",
		"pos[g], neg[g] = float64(d.positive[g]), rows*(1-p)", "becomes part of table/feature.Additive"},
	{"small cells are left out of a release", "internal/learn/grids/fit.go", "learn/grids.Plan.releaseCells",
		"\tfor _, x := range sums.Slopes {\n", "\tfor _, x := range sums.Slopes {\n\t\tif x == 0 {\n\t\t\tcontinue\n\t\t}\n",
		"what happens next"},
	{"a count in an error", "internal/learn/labeldp/fit.go", "learn/labeldp.Plan.fitAll",
		`return nil, fmt.Errorf("labeldp: %w", err)
		}
		us`, `return nil, fmt.Errorf("labeldp: of %d: %w", g.Counts[0][0], err)
		}
		us`, "anybody can print"},
	{"noise as large as the largest weight that occurs", "lab/internal/learn/people/fit.go", "privacy/mech.checkSize",
		"werr = exit.Release(errLabel(t), pl.noiseFor(pl.share[t].err, moves)",
		"werr = exit.Release(errLabel(t), pl.noiseFor(pl.share[t].err, moves*float64(wrong[k])/float64(total))",
		"what happens next"},
	{"as many scores as there are patterns", "lab/internal/learn/people/fit.go", "lab/internal/learn/people.Plan.releaseRound",
		"scores := make([]mech.Ratio, candidates)", "scores := make([]mech.Ratio, len(rows.patterns.Count))",
		"how many numbers leave"},
	{"votes cut by the range that occurs", "lab/internal/learn/pate/fit.go", "lab/internal/learn/pate.Plan.buildModel",
		"\tworth := max(0, min(mostWorth,", "\tworth := max(0, min(float64(first), mostWorth,",
		"becomes part of model.Logistic"},
	{"a solver's step is a threshold of the model", "internal/learn/erm/threshold.go", "learn/erm.Plan.chooseThreshold",
		"scores[k] = mech.RatioOf(n)", "scores[k] = mech.RatioOf(n)\n\t\tl.Bias += n * 0", "becomes part of model.Logistic"},
}

// TestStatisticsAreFollowed plants those bugs: all at once, since it takes seconds to follow the
// learners, and with the other planted bugs (make mutants) one at a time.
func TestStatisticsAreFollowed(t *testing.T) {
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	together := map[string][]byte{}
	for _, p := range plantedStatistics {
		path := filepath.Join(dir, p.file)
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(src), p.old) != 1 {
			t.Fatalf("%s: its text stands %d times in %s", p.bug, strings.Count(string(src), p.old), p.file)
		}
		plant := func(in []byte) []byte { return []byte(strings.Replace(string(in), p.old, p.with, 1)) }
		if os.Getenv("DISCREET_MUTANTS") != "" {
			wantFindings(t, dir, map[string][]byte{path: plant(src)}, []plantedStatistic{p})
		}
		if together[path] != nil {
			src = together[path]
		}
		together[path] = plant(src)
	}
	wantFindings(t, dir, together, plantedStatistics)
}

// wantFindings wants each of the planted bugs to be found where it is.
func wantFindings(t *testing.T, dir string, overlay map[string][]byte, planted []plantedStatistic) {
	t.Helper()
	bad, _, err := private.Check(dir, statisticRules(modulePath), overlay)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range planted {
		if !slices.ContainsFunc(bad, func(f private.Finding) bool {
			return f.Function == p.function && strings.Contains(f.What, p.want)
		}) {
			t.Errorf("%s: nothing is found in %s, of %d findings", p.bug, p.function, len(bad))
		}
	}
}
