// SPDX-License-Identifier: Apache-2.0

package card

import (
	"fmt"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"strconv"
	"strings"
	"time"
)

// section is a part of the page, in the order of NIST's pyramid.
type section struct {
	Title string
	Lines []line
}

// line is a fact: a few words on what it is about, and sentences.
type line struct {
	Key  string
	Text []string
}

// lead is the answer in two sentences.
func (c *Card) lead() string {
	if c.Epsilon == "0" {
		return "This model gives no privacy guarantee: whatever was read of the rows it was trained on may be revealed."
	}
	return fmt.Sprintf("This model predicts %s. It was trained so that nobody can learn much from it about %s, whatever "+
		"else they know. One row is %s.", c.Predicts, c.Protected, c.Unit)
}

// protectsMore reports whether more than one row of somebody is protected together.
func (c *Card) protectsMore() bool { return c.privacy.Scope == dp.Party || c.privacy.ProtectsPersons() }

func (c *Card) describeNeighbours() string {
	if c.protectsMore() {
		return c.Neighbours + "."
	}
	return c.Neighbours + ". Somebody with several rows is protected less: for k rows, k times epsilon holds."
}

// describeUnit is whose data are protected together, in words.
func (c *Card) describeUnit() string {
	switch {
	case c.privacy.Scope == dp.Party:
		return "one party, with all of its rows"
	case c.privacy.ProtectsPersons():
		return "one person, with all rows; one row is " + c.Unit
	}
	return c.Unit
}

func (c *Card) sections() []section {
	return []section{
		{"How strong the protection is", c.describeStrength()},
		{"Whose data", []line{
			{"Data set", []string{c.Dataset}},
			{"One row is", []string{c.Unit}},
			{"Compared are", []string{c.describeNeighbours()}},
		}},
		{"What is protected, and what is not", c.describeScope()},
		{"How it was done", c.describeMethod()},
		{"Who is trusted", []line{
			{"Protected from", []string{"Everybody who gets the model file, its predictions or this card: whatever else they " +
				"know, however long they compute, and together."}},
			{"Not from", []string{"Whoever holds the training table, and whoever operates the machine that trained the model. " +
				"They saw the rows themselves."}},
		}},
		{"Was it counted?", c.describeCount()},
		{"What this card cannot know", []line{
			{"Accuracy", []string{"How well the model predicts, and for whom. The command “discreet evaluate” says so on " +
				"rows held out of training; those numbers are not private."}},
			{"Collection", []string{"Whether the data were collected lawfully, and whether the schema, which says what is " +
				"private and where numbers lie, was written without looking at them."}},
			{"Security", []string{"Who can read the training table, its backups and the machine. Noise in a model does not " +
				"protect the table it was made from."}},
		}},
		{"Papers", c.describePapers()},
	}
}

func (c *Card) describeStrength() []line {
	lines := []line{{"In words", []string{c.Guarantee}}}
	if len(c.Odds) > 0 {
		lines = append(lines, line{"The odds", c.Odds})
		price := "epsilon = " + string(c.Epsilon)
		if c.Delta != "0" {
			price += ", delta = " + string(c.Delta)
		}
		lines = append(lines, line{"In numbers", []string{price + ". Smaller is stronger; 0 would be a model that learnt " +
			"nothing of what is protected."}})
	}
	if len(c.Warnings) > 0 {
		lines = append(lines, line{"Mind", c.Warnings})
	}
	return lines
}

func (c *Card) describeScope() []line {
	names := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, ", ")
	}
	lines := []line{}
	if c.Epsilon != "0" {
		lines = append(lines, line{"Protected", []string{c.Protected}})
	}
	if len(c.NotProtected) > 0 {
		lines = append(lines, line{"Not protected", c.NotProtected})
	}
	return append(lines,
		line{"Private columns", []string{names(c.Private)}},
		line{"Public columns", []string{names(c.Public)}},
		line{"Label", []string{fmt.Sprintf("%s (%s), one of %s", c.Predicts, c.LabelRole, strings.Join(c.Classes, ", "))}},
		line{"Left out", []string{"What the model does not use is not in its file, and so not on this card."}})
}

func (c *Card) describeMethod() []line {
	lines := []line{{"Learner", []string{c.Learner}}}
	var noise []string
	for _, m := range c.Mechanisms {
		price := "epsilon " + shorten(m.Epsilon)
		if m.Rho != "" {
			price = "rho " + shorten(m.Rho)
		}
		noise = append(noise, fmt.Sprintf("%s: %d noisy numbers or choices, %s in all", m.Name, m.Releases, price))
	}
	if noise != nil {
		lines = append(lines, line{"Noise", noise})
	}
	if c.Proof != "" {
		lines = append(lines, line{"Proof", []string{c.Proof + ", in docs/guarantees of the program's source"}})
	}
	if a := c.Audit; a != nil {
		return append(lines, line{"Attacked", []string{fmt.Sprintf("%s: %s. Attacks in %d runs show, with %.4g %% "+
			"confidence, that epsilon is at least %.4g; the claim is %.4g. Attacks on a learner say nothing about other "+
			"settings of it.", a.Subject, a.Verdict, a.Runs, 100*a.Confidence, a.LowerBound, a.Claim)}})
	}
	return append(lines, line{"Attacked", []string{"No result of an audit was given to this card."}})
}

// shorten is a number as people read it: the file and the bill have all of its digits.
func shorten(number string) string {
	x, err := strconv.ParseFloat(number, 64)
	if short := strconv.FormatFloat(x, 'g', 3, 64); err == nil && len(short) < len(number) {
		return "about " + short
	}
	return number
}

// readTime is a time of a ledger as people read it.
func readTime(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return t.UTC().Format("2006-01-02, 15:04:05 UTC")
}

func (c *Card) describeCount() []line {
	var lines []line
	switch e := c.Entry; {
	case e != nil:
		note := e.Note
		if note == "" {
			note = "none"
		}
		lines = []line{
			{"Yes", []string{fmt.Sprintf("Entry %d of %s, job %s, data set %s.", e.Seq, readTime(e.At), e.Job, e.Dataset)}},
			{"Total", []string{fmt.Sprintf("%s for all trainings on the data set together, declared at %s and never changed "+
				"since. Spent so far: %s. Left: %s.", e.Total, readTime(e.SetAt), e.Spent, e.Left)}},
			{"Owner's note", []string{note}},
			{"Entry's hash", []string{e.Hash}},
			{"Ledger's head", []string{fmt.Sprintf("%d:%s (“discreet budget verify --anchor” checks it)", e.HeadSeq,
				e.HeadHash)}},
		}
	case c.Epsilon == "0":
		lines = []line{{"No", []string{"There is no price to count."}}}
	case c.Counted:
		lines = []line{{"Yes", []string{"The model says that a ledger was charged. That ledger was not given to this card, " +
			"so it names no entry."}}}
	default:
		lines = []line{{"No", []string{"Nobody counts what trainings on this table cost together. Each further model of " +
			"the same table adds its epsilon to this one's."}}}
	}
	if c.Limit != "" {
		lines = append(lines, line{"Limit", []string{c.Limit}})
	}
	return lines
}

func (c *Card) describePapers() []line {
	return []line{
		{"Model file", []string{"SHA-256 " + c.Checksum}},
		{"Card written by", []string{c.Program}},
		{"Date of this card", []string{c.Date}},
		{"Signed", []string{"Name, role, date: "}},
	}
}
