// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// promises lists the sentences with a number or a promise that a user acts on: a part of the sentence
// as the source spells it, and the test that fails if it is false, as FOLDER:NAME. A test of a script
// is cmd/discreet:TestScripts/NAME.
var promises = []struct{ sentence, test string }{
	// The guarantee, on statements and cards.
	{"at most %s times as likely", "internal/model:TestNumbersAreRoundedUp"},
	{"plus a chance of %s%s a guess between the two may be right almost always", "internal/model:TestNumbersAreRoundedUp"},
	{"a reader who is 50 % sure of one may become almost certain", "internal/model:TestNumbersAreRoundedUp"},
	{"a guess between the two is right at most %s of the time", "internal/model:TestNumbersAreRoundedUp"},
	{"a reader who is 50 %% sure of one becomes at most %s sure", "internal/model:TestNumbersAreRoundedUp"},
	{"they have the same number of %s and differ in %s at most", "internal/model:TestWords"},
	{"the chance of this exact model changes by at most a factor e^%s", "internal/check/testkit/learntest:Run"},
	{"the chance of any set of models changes by at most a factor e^%s", "internal/check/testkit/learntest:Run"},
	{"A change of %s changes the probability of any model by at most a factor of %s", "internal/release/card:TestOddsAreBayes"},
	{"A suspicion of %g %% becomes at most %s.", "internal/release/card:TestOddsAreBayes"},
	{"It protects %s with %s differential privacy", "internal/release/card:TestWordsFollowEpsilon"},
	{"call a guarantee strong up to epsilon = %s", "internal/release/card:TestOneScaleOfEpsilon"},
	{"WEAK: an epsilon above %s rules out little", "internal/ground/dp:TestStrength"},
	{"With epsilon = 0 the model would reveal nothing", "internal/release/card:TestOddsAreBayes"},
	{"The table's schema allows one training at most epsilon %s.", "internal/train:TestPricesBeyondTheSchemasLimits"},
	{"that epsilon is at least %.4g; the claim is %g", "internal/train/audit:TestFalseAlarmsStayBelowAlpha"},
	{"any model by at most a factor of e = %s", "cmd/discreet:TestScripts/demo"},
	{"Training only if the exit\ncode is 0 tells others one bit", "cmd/discreet:TestScripts/check"},

	// Plans.
	{"NOT PRIVATE: no noise is added, nothing is protected", "internal/train:TestPlanSaysWhatIsProtected"},
	{"protects %s of %s (%s)%s", "internal/train:TestPlanSaysWhatIsProtected"},
	{"%d private and %s", "internal/train:TestPlanSaysWhatIsProtected"},
	{"public ones are treated as private, because", "internal/train:TestPlanSaysWhatIsProtected"},
	{"nothing is charged, because nothing is protected", "internal/train:TestPlanSaysWhatIsProtected"},
	{"price ε = %s in %s", "internal/check/testkit/learntest:Run"},
	{"and δ = %s: Gaussian noise, all releases accounted jointly", "internal/check/testkit/learntest:Run"},
	{"and δ = %s: Gaussian noise of ρ = %s", "internal/learn/labeldp:TestGaussianNoiseIsCalibrated"},
	{"noise of the last round: a standard deviation of %s rows", "internal/train:TestStatedNoiseIsThatOfTheRelease"},
	{"noise of a round: a standard deviation of %s rows", "internal/train:TestStatedNoiseIsThatOfTheRelease"},
	{"noise of the positive rows of public columns", "internal/learn/additive:TestPositiveRowsEqualTheNaiveTwin"},
	{"noise of the labels, given public columns", "internal/learn/additive:TestVectorsOfPositiveRowsEqualTheNaiveTwin"},
	{"TOO FEW: with so few %s, nothing can be distinguished from noise", "internal/learn/additive:TestPlanSaysTooFewPersons"},
	{"TOO FEW: under so large a ridge no row moves a score", "internal/learn/erm:TestPlanSaysWhereProbabilitiesAreAHalf"},
	{"a person counts for at most %s", "internal/learn/additive:TestPersonReleasesMoveByTheDeclared"},
	{"draws %d rows of each person", "internal/learn:TestPersonsPayForEachRow"},
	{"protects all rows of one person together", "internal/learn:TestPersonsPayUpToTheMostRows"},
	{"has at most %d bins, cut by the schema", "internal/learn/additive:TestEachColumnIsCutOnce"},
	{"a grid is of 1 to %d of %d columns", "internal/learn/grids:TestDrawnGridsAreWithinTheRules"},
	{"noise scale of the first round, tight, 1/n over the ε of a round", "internal/learn/brc:TestFactsOfThePapersSetting"},
	{"noise scale of a round, paper, c1·c2/n over the ε of a round", "internal/learn/brc:TestFactsOfThePapersSetting"},
	{"noise scale of a round, %s, at most", "internal/learn/brc:TestFactsOfThePapersSetting"},
	{"noise scale at most %s rows on each of two weighted counts", "internal/train:TestBoundsOnNoiseHold"},
	{"noise in the gradient: length about %s", "internal/guard/perturbed:TestStatedLengthIsThatOfTheNoise"},
	{"noise in the coefficients of scaled rows", "internal/guard/perturbed:TestStatedLengthIsThatOfTheNoise"},
	{"each fit has ε = %s of it and noise of its own", "internal/learn/erm:TestEveryFitPaysItsPart"},
	{"rows of length at most %s after division", "internal/learn/erm:TestModelsShortenRowsAsTrainingDid"},
	{"rows count by their level, at most once", "internal/learn/erm:TestWeightsCountRows"},
	{"noise in the mean of rows of length at most 1", "internal/train:TestBoundsOnNoiseHold"},
	{"because a δ is given and rows times ε are at least %d", "internal/learn/auto:TestTakesBothUnasked"},
	{"ORDER OF MAGNITUDE", "internal/train:TestSampleSizesAreRoundedUp"},
	{"A cell of fewer than %.0f rows cannot be told", "internal/train:TestStatedNoiseIsThatOfTheRelease"},
	{"The noise is large for %d rows", "internal/train:TestStatedNoiseIsThatOfTheRelease"},

	// After training.
	{"is protected at k times", "internal/release/card:TestPersonsAreTheUnit"},
	{"these rows are not compared with those it was made from", "cmd/discreet:TestScripts/parts"},
	{"ended without a result and is never drawn again", "internal/train:TestFailuresBehindTheCharge"},
	{"Intervals hold the true number about %.0f %% of the time", "internal/train/evaluation:TestIntervalsInClosedForm"},
	{"Each interval covers its noise and the sampling of rows", "internal/train/evaluation:TestIntervalsInClosedForm"},
	{"Rows that score at least %.4g are predicted %s", "internal/train/evaluation:TestReportOfExactCounts"},
	{"protects %s of %s in the held-out table", "internal/train/evaluation:TestNeighboursMoveTheCountsAsDeclared"},
	{"public, but from noisy measurements", "internal/model/explain:TestLegendOfPublicColumnsBesideAProtectedLabel"},
	{"must hold this model: entry %d holds another", "internal/release/card:TestLedgerHoldsTheModel"},
	{"nothing: it learns less than a tenth of what the law has", "internal/train/forecast:TestJudge"},
	{"job %q cannot go from %s to %s", "internal/ledger:TestEveryOrderOfSteps"},
	{"already has a budget; budgets cannot be changed", "internal/ledger:TestRefusals"},
	{"learner %s adds no noise: expect the claim to be refuted", "lab/cmd/discreet-lab:TestScripts/audit"},
	{"its votes cost nothing more, and protect what it protects", "cmd/discreet:TestScripts/units"},
	{"be at least 2 for secret sums, which hide a site among the others", "cmd/discreet:TestScripts/party_secret"},
	{"for all rows together, and as much for each row", "internal/net/service/site:TestVotesAndTrainingsHaveOneBudget"},
	{"# or rows, if votes go on after a training", "internal/net/service/site:TestVotesAndTrainingsHaveOneBudget"},
	{"each number has %.2f times the noise of one table", "internal/privacy/mech:TestSharesOfNoiseAddUp"},
	{"you see the sums of each site, with all noise that its rows need", "internal/net/federated/sites:TestAnySumOfAnswersThatShowHasItsNoise"},
	{"(default 0, a pure guarantee)", "cmd/discreet:TestCommandReference"},
	{"a 95 % interval for the effect of noise on the score", "internal/learn/additive:TestIntervalsHoldWhatNoiseDoes"},
	{"of the law\twithout noise\tof this plan", "internal/train/forecast:TestForecast"},
	{"and that the noise was drawn as the statement says", "cmd/discreet:TestScripts/release"},
}

// promiseFolders print texts about privacy, noise and prices to users.
var promiseFolders = []string{
	"internal/model/card.go", "internal/release/card", "internal/learn", "internal/learn/additive", "internal/learn/grids",
	"internal/learn/auto", "internal/learn/labeldp", "internal/learn/erm", "internal/learn/brc", "internal/train",
	"internal/commands/demo", "internal/train/evaluation", "internal/train/forecast", "internal/model/explain", "internal/explorer/planning",
	"internal/ground/dp", "internal/release/dossier", "internal/commands", "internal/net/commands/site_train.go",
	"internal/net/commands/site_voter.go", "internal/net/service/site/votes.go", "cmd/discreet",
	"internal/train/predict", "internal/train/heldout", "internal/model/metrics", "internal/train/audit", "internal/ledger",
}

// A promise is a sentence with a number that says what cannot happen or how strong noise is. What is
// required of a parameter is checked where it is refused.
var (
	promising = regexp.MustCompile(`\b(at most|at least|never|always|cannot|protects|guarantee|sure|fewer|chance|rules out|likely|` +
		`noise|TOO FEW|nothing is|reveal)\b`)
	counting    = regexp.MustCompile(`%[^ %\\]|\d`)
	requirement = regexp.MustCompile("\\bmust\\b|scale of the noise:|`|^  discreet ") // of a flag, and examples
)

// TestEveryPromiseHasATest: each listed sentence is still printed and its test exists, and each sentence
// of that kind in promiseFolders is listed.
func TestEveryPromiseHasATest(t *testing.T) {
	found := make([]bool, len(promises))
	for _, folder := range promiseFolders {
		files, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(folder, ".go") {
			files = []string{filepath.Join("../../..", folder)}
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, text := range sentencesOf(t, file) {
				listed := false
				for i, p := range promises {
					if strings.Contains(text, p.sentence) {
						found[i], listed = true, true
					}
				}
				if !listed && strings.Contains(text, " ") && promising.MatchString(text) && counting.MatchString(text) &&
					!requirement.MatchString(text) {
					t.Errorf("%s prints %q: add it to promises with the test that fails if it is false", file, text)
				}
			}
		}
	}
	for i, p := range promises {
		if !found[i] {
			t.Errorf("no source prints %q", p.sentence)
		}
		folder, name, _ := strings.Cut(p.test, ":")
		if !hasTest(t, folder, name) {
			t.Errorf("%q: %s has no %s", p.sentence, folder, name)
		}
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	if script, ok := strings.CutPrefix(name, "TestScripts/"); ok {
		_, err := os.Stat(filepath.Join("../../..", folder, "testdata", script+".txtar"))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t ") {
			return true
		}
	}
	return false
}

// sentencesOf returns the texts of a file, each sum of literals as one.
func sentencesOf(t *testing.T, path string) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		text, ok := sumOf(n)
		if ok {
			texts = append(texts, text)
		}
		return !ok
	})
	return texts
}

func sumOf(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind == token.STRING {
			text, err := strconv.Unquote(n.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, some := sumOf(n.X)
		right, more := sumOf(n.Y)
		return left + right, n.Op == token.ADD && (some || more)
	}
	return "", false
}
