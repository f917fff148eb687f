// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func TestCard(t *testing.T) {
	const want = `Privacy statement
  guarantee      epsilon = 0.16 (160000000 nano), delta = 0
  protects       the private columns of each row
  meaning        between neighbours, any outcome at most 1.18 times as likely; ` +
		`a reader who is 50 % sure of one becomes at most 54.0 % sure
  one row is     one admission
  neighbours     replace-one: they have the same number of rows and differ in the private columns of one row at most
  paid for       2 measurements by laplace, epsilon = 0.16 in total
  not protected  The label of each row.
                 The public columns: bill, ward.
  in words       The private columns of one row change the odds of any model by a factor of at most exp(0.16).
  claim          brc: G-BRC-2 (see evidence/guarantees)
`
	if got := voted().Privacy.Card(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// approximated is a model of one Gaussian and one pure release.
func approximated() *Model {
	m := voted()
	m.Privacy.Delta = 1_000_000_000
	m.Privacy.Bill[0] = dp.Event{Release: "sums", Mechanism: "gaussian", Epsilon: dp.Infinite, Rho: 400_000_000}
	return m
}

func TestCardWithDelta(t *testing.T) {
	p := approximated().Privacy
	card := p.Card()
	for _, want := range []string{
		"guarantee      epsilon = 0.16 (160000000 nano), delta = 0.000001\n",
		"any outcome at most 1.18 times as likely, plus a chance of 0.000001; a guess between the two is right at " +
			"most 54.0 % of the time\n",
		"paid for       1 measurement by gaussian, rho = 0.0004 in total\n",
		"1 measurement by laplace, epsilon = 0.08 in total\n",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("no %q in\n%s", want, card)
		}
	}
	if words := p.Words(); !strings.Contains(words, "is (0.16, 0.000001)-differentially private") {
		t.Error(words)
	}
	back, err := Unmarshal(mustMarshal(t, approximated()))
	if err != nil || back.Privacy.Delta != p.Delta || back.Privacy.Bill[0] != p.Bill[0] {
		t.Errorf("through a file: %+v, %v", back, err)
	}
}

func TestCardOfAPrivateLabel(t *testing.T) {
	p := voted().Privacy
	p.Scope = dp.LabelOnly
	card := p.Card()
	for _, want := range []string{"protects       the label of each row\n", "differ in the label of one row at most\n"} {
		if !strings.Contains(card, want) {
			t.Errorf("no %q in\n%s", want, card)
		}
	}
}

// Where persons are protected, neighbours differ in all rows of one.
func TestCardOfPersons(t *testing.T) {
	p := voted().Privacy
	p.Claim += PersonClaim
	for relation, wants := range map[dp.Relation][]string{
		dp.ReplaceOne: {"the private columns of all rows of each person\n",
			"the same number of persons and differ in the private columns of all rows of one person at most\n"},
		dp.AddRemove: {"one has one person that the other lacks, with all rows\n"},
	} {
		p.Relation = relation
		for _, want := range wants {
			if card := p.Card(); !strings.Contains(card, want) {
				t.Errorf("no %q in\n%s", want, card)
			}
		}
	}
}

func TestCardWithoutPrivacy(t *testing.T) {
	const want = `Privacy statement
  guarantee      none: whatever was read of the training rows may be revealed
  one row is     one admission
  neighbours     replace-one: they have the same number of rows and differ in one row at most
  in words       No guarantee.
  warning        NOT PRIVATE: it gives no guarantee; ` +
		`share it only with people who may see the training rows
                 OVERRIDDEN: --not-private
`
	if got := fitted().Privacy.Card(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWords(t *testing.T) {
	p := voted().Privacy
	const want = "This model is 0.16-differentially private for the private columns of each row; one row is one " +
		"admission. " +
		"Two tables count as neighbours when they have the same number of rows and differ in the private columns of one " +
		"row at most. " +
		"Whatever anyone computes from the model is at most 1.18 times as likely with one of them as with the other: a " +
		"reader who is 50 % sure of one becomes at most 54.0 % sure. " +
		"The private columns of one row change the odds of any model by a factor of at most exp(0.16)."
	if got := p.Words(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p.Relation, p.Scope = dp.AddRemove, dp.WholeRow
	for _, say := range []string{"every feature and the label of each row", "one has one row that the other lacks"} {
		if !strings.Contains(p.Words(), say) {
			t.Errorf("%q is missing from %q", say, p.Words())
		}
	}
}

// What voids or weakens the guarantee is said in both forms.
func TestFlagsAreSaid(t *testing.T) {
	p := voted().Privacy
	p.Seeded, p.Counted, p.Overrides = true, false, []string{"the owner's maximum epsilon, 0.1"}
	for _, text := range []string{p.Words(), p.Card()} {
		for _, say := range []string{"SEEDED", "NOT COUNTED", "OVERRIDDEN: the owner's maximum epsilon, 0.1"} {
			if !strings.Contains(text, say) {
				t.Errorf("%q is missing from\n%s", say, text)
			}
		}
	}
	if text := fitted().Privacy.Words(); !strings.Contains(text, "no privacy guarantee") ||
		!strings.Contains(text, "NOT PRIVATE") || strings.Contains(text, "differentially") {
		t.Errorf("a model without privacy says %q", text)
	}
}

// The stated factor and the stated certainty are never below the true ones.
func TestNumbersAreRoundedUp(t *testing.T) {
	for _, e := range []dp.Epsilon{0, 1, 1000, 10_000_000, 160_000_000, 693_147_181, 6_900_000_000, dp.Nano, 5 * dp.Nano, 13 * dp.Nano,
		14 * dp.Nano, dp.MaxEpsilon} {
		if f, err := strconv.ParseFloat(factorWords(e), 64); err == nil &&
			!(f >= math.Exp(e.Float()) && f <= 1.0101*math.Exp(e.Float())) {
			t.Errorf("epsilon %s: factor %s, e^epsilon is %g", e, factorWords(e), math.Exp(e.Float()))
		} else if err != nil && e < 13*dp.Nano {
			t.Errorf("epsilon %s: factor %q is not a number", e, factorWords(e))
		}
		if e > 6_907_755_279 { // 99.9 %
			if want := "a reader who is 50 % sure of one may become almost certain"; beliefWords(e) != want {
				t.Errorf("epsilon %s: %q, want %q", e, beliefWords(e), want)
			}
			continue
		}
		digits := strings.Fields(strings.TrimPrefix(beliefWords(e), "a reader who is 50 % sure of one becomes at most "))[0]
		f, err := strconv.ParseFloat(digits, 64)
		if exact := 100 / (1 + math.Exp(-e.Float())); err != nil || !(f >= exact && f < exact+0.1001) {
			t.Errorf("epsilon %s: %q, exactly %g", e, beliefWords(e), exact)
		}
	}
}
