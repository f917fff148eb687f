// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

// PersonClaim is the suffix of the claim of a model whose unit of privacy is a person. The learner's
// own claim is for one row; evidence/guarantees/persons.md extends it to all rows of one person.
const PersonClaim = ", persons: G-PERSONS"

// Words returns the statement in one paragraph for a reader who signs it: what is protected, against
// what, at which price, and whether it may be deployed.
func (p *Privacy) Words() string {
	var w []string
	switch {
	case p.Scope == dp.Nothing:
		w = append(w, "This model gives no privacy guarantee: it may reveal whatever was read of the rows it was trained on.")
	default:
		w = append(w,
			fmt.Sprintf("This model is %s-differentially private for %s; one row is %s.",
				p.priceWords(), p.Protects(), p.Unit),
			fmt.Sprintf("%s count as neighbours when %s.", p.pairWords(), p.neighbourWords()),
			fmt.Sprintf("Whatever anyone computes from the model is %s.",
				p.meaningWords(" with one of them as with the other", ":")))
	}
	w = append(w, endSentence(p.Statement))
	for _, flag := range p.Flags() {
		w = append(w, endSentence(flag))
	}
	return strings.Join(w, " ")
}

// Card returns the whole statement, one fact per line, with the bill summed up by mechanism. It ends
// with a line break.
func (p *Privacy) Card() string {
	var b strings.Builder
	b.WriteString("Privacy statement\n")
	line := func(key, value string) { fmt.Fprintf(&b, "  %-14s %s\n", key, value) }
	if p.Scope == dp.Nothing {
		line("guarantee", "none: whatever was read of the training rows may be revealed")
	} else {
		line("guarantee", fmt.Sprintf("epsilon = %s (%d nano), delta = %s", p.Epsilon, int64(p.Epsilon), p.Delta))
		line("protects", p.Protects())
		line("meaning", "between neighbours, any outcome "+p.meaningWords("", ";"))
	}
	line("one row is", p.Unit)
	line("neighbours", fmt.Sprintf("%s: %s", p.Relation, p.neighbourWords()))
	for i, l := range p.BillWords() {
		line(leadingKey(i, "paid for"), l)
	}
	for i, u := range p.Unprotected {
		line(leadingKey(i, "not protected"), u)
	}
	line("in words", p.Statement)
	if p.Claim != "" {
		line("claim", p.Claim+" (see evidence/guarantees)")
	}
	for i, f := range p.Flags() {
		line(leadingKey(i, "warning"), f)
	}
	return b.String()
}

// Compares describes the neighbouring tables of the guarantee.
func (p *Privacy) Compares() string {
	return fmt.Sprintf("%s count as neighbours when %s", p.pairWords(), p.neighbourWords())
}

// Factor returns the largest ratio of an outcome's probabilities under two neighbours, rounded up.
func (p *Privacy) Factor() string { return factorWords(p.Epsilon) }

// Guess returns the probability that the best guess between two neighbours is right, rounded up.
func (p *Privacy) Guess() string { return guessWords(p.Epsilon, p.Delta) }

// priceWords returns ε, or ε and δ as in the literature.
func (p *Privacy) priceWords() string {
	if p.Delta == 0 {
		return p.Epsilon.String()
	}
	return fmt.Sprintf("(%s, %s)", p.Epsilon, p.Delta)
}

// meaningWords states how much more likely an outcome can be under a neighbour, and the effect on a
// guess. A δ adds a probability. With a δ, no single outcome bounds a belief; only the rate of right
// guesses is bounded.
func (p *Privacy) meaningWords(between, stop string) string {
	times := fmt.Sprintf("at most %s times as likely%s", factorWords(p.Epsilon), between)
	if p.Delta == 0 {
		return times + stop + " " + beliefWords(p.Epsilon)
	}
	guess := guessWords(p.Epsilon, p.Delta)
	if guess == nearlyAll {
		return fmt.Sprintf("%s, plus a chance of %s%s a guess between the two may be right almost always", times, p.Delta,
			stop)
	}
	return fmt.Sprintf("%s, plus a chance of %s%s a guess between the two is right at most %s of the time", times,
		p.Delta, stop, guess)
}

// leadingKey returns key for the first of several lines, and nothing for the others.
func leadingKey(i int, key string) string {
	if i > 0 {
		return ""
	}
	return key
}

func endSentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// ProtectsPersons reports whether all rows of one person are protected together.
func (p *Privacy) ProtectsPersons() bool { return strings.HasSuffix(p.Claim, PersonClaim) }

// Protects describes what is protected, for example "the private columns of each row".
func (p *Privacy) Protects() string {
	unit := "each row"
	if p.ProtectsPersons() {
		unit = "all rows of each person"
	}
	switch p.Scope {
	case dp.PrivateFeatures:
		return "the private columns of " + unit
	case dp.FeaturesAndLabel:
		return "the private columns and the label of " + unit
	case dp.LabelOnly:
		return "the label of " + unit
	case dp.Party:
		return "everything that each party holds, all of its rows at once"
	}
	if p.PartColumn != "" {
		return fmt.Sprintf("every feature but %q, and the label, of %s of the part", p.PartColumn, unit)
	}
	return "every feature and the label of " + unit
}

func (p *Privacy) neighbourWords() string {
	unit, same, added := "one row", "rows", "one row that the other lacks"
	if p.ProtectsPersons() {
		unit, same, added = "all rows of one person", "persons", "one person that the other lacks, with all rows"
	}
	what := unit
	switch p.Scope {
	case dp.PrivateFeatures:
		what = "the private columns of " + unit
	case dp.FeaturesAndLabel:
		what = "the private columns and the label of " + unit
	case dp.LabelOnly:
		what = "the label of " + unit
	}
	if p.Scope == dp.Party {
		return "as many parties take part in both and one party's rows differ, any number of them"
	}
	if p.Relation == dp.AddRemove {
		return "one has " + added
	}
	return fmt.Sprintf("they have the same number of %s and differ in %s at most", same, what)
}

// pairWords describes two neighbours.
func (p *Privacy) pairWords() string {
	if p.Scope == dp.Party {
		return "Two collections of parties' tables"
	}
	return "Two tables"
}

// BillWords returns the bill summed up by mechanism, one line each, in order of first use.
func (p *Privacy) BillWords() []string {
	var names []string
	count := map[string]int{}
	cost := map[string]dp.Epsilon{}
	rho, delta := map[string]dp.Rho{}, map[string]dp.Delta{}
	for _, e := range p.Bill {
		if count[e.Mechanism] == 0 {
			names = append(names, e.Mechanism)
		}
		count[e.Mechanism]++
		delta[e.Mechanism] += e.Delta
		if rho[e.Mechanism] += e.Rho; e.Epsilon != dp.Infinite {
			cost[e.Mechanism] += e.Epsilon
		}
	}
	lines := make([]string, len(names))
	for i, name := range names {
		price := "epsilon = " + cost[name].String()
		if delta[name] > 0 {
			price += ", delta = " + delta[name].String()
		}
		if rho[name] > 0 {
			price = "rho = " + rho[name].String()
		}
		lines[i] = fmt.Sprintf("%s by %s, %s in total", plaintext.Count(count[name], "measurement"), name, price)
	}
	return lines
}

// Flags returns warnings, each as a sentence without its full stop.
func (p *Privacy) Flags() (out []string) {
	if p.NotPrivate {
		out = append(out,
			"NOT PRIVATE: it gives no guarantee; share it only with people who may see the training rows")
	}
	if p.Seeded {
		out = append(out, "SEEDED: its randomness can be reproduced, which voids the guarantee; never deploy it")
	}
	if p.Scope != dp.Nothing && !p.Counted {
		out = append(out, "NOT COUNTED: no ledger was charged, so the guarantee is for this training alone; others on the "+
			"same table add to it")
	}
	for _, o := range p.Overrides {
		out = append(out, "OVERRIDDEN: "+o)
	}
	if p.Scope != dp.Nothing && p.Epsilon.Warning() != "" {
		out = append(out, p.Epsilon.Warning())
	}
	return out
}

// factorWords returns e^ε, rounded up to three digits.
func factorWords(e dp.Epsilon) string {
	x := math.Exp(e.Float())
	if x >= 1e6 {
		return "a million or more"
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return fmt.Sprintf("%.6g", math.Ceil(x/unit)*unit)
}

// nearlyAll is a share that rounds up to 100 %.
const nearlyAll = "100.0 %"

// beliefWords states what the factor means for an observer who suspects something.
func beliefWords(e dp.Epsilon) string {
	if guessWords(e, 0) == nearlyAll {
		return "a reader who is 50 % sure of one may become almost certain"
	}
	return fmt.Sprintf("a reader who is 50 %% sure of one becomes at most %s sure", guessWords(e, 0))
}

// guessWords returns (e^ε + δ)/(e^ε + 1) in percent, rounded up: the probability that the best guess
// between two equally likely neighbours is right.
func guessWords(e dp.Epsilon, d dp.Delta) string {
	odds := math.Exp(-e.Float())
	return fmt.Sprintf("%.1f %%", math.Ceil(1000*(1+odds*float64(d)/dp.Femto)/(1+odds))/10)
}
