// SPDX-License-Identifier: Apache-2.0

package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// section is a part of the page, in the order of NIST's pyramid.
type section struct {
	Title string
	Lines []line
}

// line is a fact: a short heading, and sentences.
type line struct {
	Key  string
	Text []string
}

// isPrivate reports whether the model has a guarantee.
func (c *Card) isPrivate() bool { return c.privacy.Scope != dp.Nothing }

// lead is the summary in a few sentences, whose wording depends on ε.
func (c *Card) lead() string {
	if !c.isPrivate() {
		return "NOT PRIVATE. This model gives no privacy guarantee: it may reveal whatever was read of the rows it was " +
			"trained on. Treat its file as you treat the training table."
	}
	price := "epsilon = " + string(c.Epsilon)
	if c.Delta != "0" {
		price += ", delta = " + string(c.Delta)
	}
	strength, meaning := c.privacy.Epsilon.Strength(), c.Odds[0]
	if strength == dp.Weak {
		meaning = "The guarantee alone rules out little at this epsilon: a reader of the model may become " +
			"almost certain of what is protected."
	}
	return fmt.Sprintf("This model predicts %s. It protects %s with %s differential privacy (%s). %s %s The unit of "+
		"privacy is %s.", c.Predicts, c.Protected, strength, price, meaning, c.describeLabel(), c.describeUnit())
}

// describeLabel returns a sentence on the status of the label.
func (c *Card) describeLabel() string {
	if c.privacy.Scope == dp.PrivateFeatures {
		return fmt.Sprintf("The label %s is public and not protected.", c.Predicts)
	}
	return fmt.Sprintf("The label %s is protected.", c.Predicts)
}

// protectsMore reports whether all rows of a person or party are protected together.
func (c *Card) protectsMore() bool { return c.privacy.Scope == dp.Party || c.privacy.ProtectsPersons() }

func (c *Card) describeNeighbours() string {
	if c.protectsMore() || !c.isPrivate() {
		return c.Neighbours + "."
	}
	return c.Neighbours + ". A person with several rows is protected less: for k rows, k times epsilon holds."
}

// describeUnit describes the unit of privacy in words.
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
	list := []section{
		{"How strong the protection is", c.describeStrength()},
		{"Unit of privacy", []line{
			{"Data set", []string{c.Dataset}},
			{"One row is", []string{c.Unit}},
			{"Neighbouring tables", []string{c.describeNeighbours()}},
		}},
		{"What is protected and what is not", c.describeScope()},
		{"How the model was made", c.describeMethod()},
	}
	if c.isPrivate() {
		list = append(list, section{"Who is trusted", []line{
			{"Protected from", []string{"Everyone who receives the model file, its predictions or this card, alone or " +
				"together, whatever else they know and however long they compute."}},
			{"Not protected from", []string{"The people who hold the training table, and the operators of the machine that " +
				"trained the model. They have seen the rows."}},
		}})
	}
	list = append(list, c.describeEvaluation()...)
	notCovered := []line{{"Accuracy", []string{"How well the model predicts, and for whom. An evaluation measures it on " +
		"rows held out of training, privately or exactly. No private one was given to this card."}}}
	if c.Evaluation != nil {
		notCovered = nil
	}
	return append(list,
		section{"Budget ledger", c.describeCount()},
		section{"Policy", c.describePolicy()},
		section{"Who is responsible", c.describeResponsible()},
		section{"What this card does not cover", append(notCovered, []line{
			{"Collection", []string{"Whether the data were collected lawfully, and whether the schema was written without " +
				"looking at the rows. The schema declares what is private and the bounds of numbers."}},
			{"Security", []string{"Who can read the training table, its backups and the machine. Noise in a model does not " +
				"protect the table it was made from."}},
		}...)},
		section{"Identification", c.describePapers()})
}

func (c *Card) describeStrength() []line {
	lines := []line{{"In words", []string{c.Guarantee}}}
	if len(c.Odds) > 0 {
		lines = append(lines, line{"The odds", c.Odds})
		price := "epsilon = " + string(c.Epsilon)
		if c.Delta != "0" {
			price += ", delta = " + string(c.Delta)
		}
		lines = append(lines, line{"In numbers", []string{price + ". A smaller epsilon protects more. " + dp.DescribeScale() +
			" With epsilon = 0 the model would reveal nothing of what is protected."}})
	}
	if len(c.Warnings) > 0 {
		lines = append(lines, line{"Warnings", c.Warnings})
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
	if c.isPrivate() {
		lines = append(lines, line{"Protected", []string{c.Protected}})
	}
	if len(c.NotProtected) > 0 {
		lines = append(lines, line{"Not protected", c.NotProtected})
	}
	switch private, public := names(c.Private), names(c.Public); c.privacy.Scope {
	case dp.WholeRow, dp.Party:
		lines = append(lines, line{"Protected columns", []string{names(slices.Concat(c.Private, c.Public))}})
	case dp.LabelOnly, dp.Nothing:
		lines = append(lines, line{"Columns not protected", []string{names(slices.Concat(c.Private, c.Public))}})
	default:
		lines = append(lines, line{"Private columns", []string{private}}, line{"Public columns", []string{public}})
	}
	return append(lines,
		line{"Label", []string{fmt.Sprintf("%s (%s), one of %s", c.Predicts, c.LabelRole, strings.Join(c.Classes, ", "))}},
		line{"Ignored by the schema", []string{names(c.Ignored)}},
		line{"Left out", []string{"Of columns that the model does not use, the model file holds the names alone."}})
}

func (c *Card) describeMethod() []line {
	lines := []line{{"Learner", []string{c.Learner}}, {"Trained", []string{c.describeTraining()}}}
	var noise []string
	for _, m := range c.Mechanisms {
		price := "epsilon " + m.Epsilon
		if m.Delta != "" {
			price += ", delta " + m.Delta
		}
		if m.Rho != "" {
			price = "rho " + m.Rho
		}
		times := "once, for " + price
		if m.Releases > 1 {
			times = fmt.Sprintf("%d times, for %s in total", m.Releases, price)
		}
		noise = append(noise, fmt.Sprintf("%s: used %s", m.Name, times))
	}
	if noise != nil {
		lines = append(lines, line{"Noise mechanisms", noise})
	}
	if words, _, ok := strings.Cut(c.privacy.Statement, ". "); ok && strings.HasPrefix(words, "Chosen") {
		lines = append(lines, line{"Choice", []string{words + "."}})
	}
	if c.Proof != "" {
		lines = append(lines, line{"Proof", []string{c.Proof + ", in " + c.proofPlace() + ". The proofs have not been reviewed " +
			"outside the project."}})
	}
	if a := c.Audit; a != nil {
		runs := a.Counted
		if runs == 0 {
			runs = a.Runs // of an attack
		}
		return append(lines, line{"Audit", []string{fmt.Sprintf("%s: %s. The results of %d runs show, with %.9g %% "+
			"confidence, that epsilon is at least %.4g; the claim is %g. An audit of a learner does not cover its other "+
			"settings.", a.Subject, a.Verdict, runs, 100*a.Confidence, a.LowerBound, a.Claim)}})
	}
	return append(lines, line{"Audit", []string{"No result of an audit was given to this card."}})
}

// proofPlace is the page of the proof at the commit that the program was built from, or where it is if that is not known.
func (c *Card) proofPlace() string {
	words := strings.Fields(strings.SplitN(c.Program, ",", 2)[0])
	page, _, _ := strings.Cut(c.Proof, ":")
	if commit := words[len(words)-1]; len(commit) == 40 && strings.Trim(commit, "0123456789abcdef") == "" {
		return fmt.Sprintf("https://github.com/discreet-dp/discreet/blob/%s/evidence/guarantees/%s.md", commit, page)
	}
	return "evidence/guarantees of the program's source, whose commit this program cannot name"
}

// describeTraining states when the model was trained.
func (c *Card) describeTraining() string {
	switch {
	case c.Entry != nil:
		return "The ledger took the model in at " + readTime(c.Entry.At) + "."
	case c.About["trained"] != "":
		return c.About["trained"] + ", as the author of this card states."
	}
	return "The model file holds no date. A ledger does, if it is given to this card."
}

// describeResponsible lists what the organisation stated, and what it left out.
func (c *Card) describeResponsible() (lines []line) {
	var open []string
	for _, x := range abouts {
		switch {
		case x.title == "":
		case c.About[x.name] != "":
			lines = append(lines, line{x.title, []string{c.About[x.name]}})
		case slices.Contains([]string{"curator", "intended-use", "recipients", "retention", "people"}, x.name):
			open = append(open, strings.ToLower(x.title))
		}
	}
	if open != nil {
		lines = append(lines, line{"Not given to this card", []string{strings.Join(open, ", ")}})
	}
	return lines
}

// readTime formats a time of a ledger for readers.
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
			{"Charged", []string{fmt.Sprintf("Entry %d of %s, job %s, data set %s.", e.Seq, readTime(e.At), e.Job, e.Dataset)}},
			{"Total", []string{fmt.Sprintf("%s for all trainings on the data set together, declared at %s and not changed "+
				"since. Spent so far: %s. Left: %s.", e.Total, readTime(e.SetAt), e.Spent, e.Left)}},
			{"Owner's note", []string{note}},
			{"Entry's hash", []string{e.Hash}},
			{"Ledger's head", []string{fmt.Sprintf("%d:%s (a later check of the ledger takes it as an anchor)", e.HeadSeq,
				e.HeadHash)}},
		}
		if a := e.Approval; a != nil {
			who := a.Role
			if a.Name != "" {
				who += " " + a.Name
			}
			lines = append(lines, line{"Approved", []string{fmt.Sprintf("By the %s at %s: %s, for the purpose: %s.", who, readTime(a.At),
				a.Price, a.Purpose)}})
		}
	case !c.isPrivate():
		lines = []line{{"Not charged", []string{"There is no price to count."}}}
	case c.Counted:
		lines = []line{{"Charged", []string{"The model file records that a ledger was charged. That ledger was not " +
			"given to this card, so no entry is named."}}}
	default:
		lines = []line{{"Not charged", []string{"No ledger counts what the trainings on this table cost together. Each " +
			"further model of the same table adds its epsilon to this one's."}}}
	}
	if c.Limit != "" {
		lines = append(lines, line{"Limit", []string{c.Limit}})
	}
	return lines
}

// describePolicy is the record of each criterion that was applied.
func (c *Card) describePolicy() []line {
	p := c.Policy
	if p == nil {
		return []line{{"Not given", []string{"No policy was applied to this model, or none was given to this card."}}}
	}
	lines := []line{{"Policy", []string{fmt.Sprintf("Number %d, signed by key %s. Its text without the signature, the last line, has the SHA-256 %s.", p.Number, p.Signer, p.Digest)}}}
	for _, k := range p.Criteria {
		lines = append(lines, line{k.Clause, []string{fmt.Sprintf("Asks for: %s. Found: %s. %s.", k.Asks, k.Found,
			strings.ToUpper(string(k.Outcome[:1]))+string(k.Outcome[1:]))}})
	}
	return lines
}

func (c *Card) describeSchemaFile() string {
	if c.SchemaFile == "" {
		return "The model file names none."
	}
	return "SHA-256 " + c.SchemaFile + ". It is the file that was approved if its SHA-256 is the same; a check of a release " +
		"compares them."
}

func (c *Card) describePapers() []line {
	return []line{
		{"Model file", []string{"SHA-256 " + c.Checksum}},
		{"Schema's file as it was given", []string{c.describeSchemaFile()}},
		{"Schema (schema.json of a release)", []string{"SHA-256 " + c.Schema}},
		{"Card written by", []string{c.Program}},
		{"Date of this card", []string{c.Date}},
		{"Signed", []string{"Name, role, date: "}},
	}
}
