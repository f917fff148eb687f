// SPDX-License-Identifier: Apache-2.0

package train

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// PartsOf returns the parts that a schema declares, nil if there are none.
func PartsOf(s *schema.Schema) (*ledger.Parts, error) {
	if s.Parts == "" {
		return nil, nil
	}
	c := &s.Columns[s.Find(s.Parts)]
	// Whatever decides which level a cell is.
	definition, err := hashJSON(struct {
		Levels   []schema.Level
		Missing  bool
		Trim     bool
		Tokens   []string
		Place    int
		Buckets  int    `json:",omitempty"`
		Quote    string `json:",omitempty"`
		Spelling string `json:",omitempty"`
	}{c.Levels, c.Missing, s.Dialect.Trim, s.Dialect.Missing, placeOf(s, s.Parts), c.Buckets, otherQuote(&s.Dialect),
		s.Dialect.Spelling()})
	return &ledger.Parts{By: s.Parts, Names: schema.Values(c.Levels), Definition: definition}, err
}

// placeOf returns the place of a column in files without a header; -1 in those with names.
func placeOf(s *schema.Schema, name string) int {
	if s.Dialect.Header {
		return -1
	}
	return s.Find(name)
}

// hashJSON returns the SHA-256 of a value in JSON.
func hashJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// otherQuote names the character that quotes cells unless it is the usual one: it decides whether a cell is "a" or a.
func otherQuote(d *schema.Dialect) string {
	switch d.Quote {
	case '"':
		return ""
	case 0:
		return "none"
	}
	return string(d.Quote)
}

// CheckPart refuses a part that the schema does not declare; "" is the whole
// table.
func CheckPart(op, part string, s *schema.Schema) error {
	if part == "" {
		return nil
	}
	p, err := PartsOf(s)
	switch {
	case err != nil:
		return err
	case p == nil:
		return &RequestError{&dp.ParamError{Op: op, Param: "part", Want: "must not be given: the schema declares no parts",
			Got: part, Hint: "write parts: and the public column whose levels part the rows"}}
	case !slices.Contains(p.Names, part):
		return &RequestError{&dp.ParamError{Op: op, Param: "part", Want: fmt.Sprintf("must be a level of column %q", p.By),
			Got: strconv.Quote(part)}}
	}
	return nil
}

// describePart adds to a model's statement that the training read one part of the rows. The statement
// thereby reveals the value of the part's column for each of them.
func describePart(p *model.Privacy, column, part string) {
	describeColumn(p, column)
	p.Unprotected = append(p.Unprotected,
		fmt.Sprintf("which rows the training read: the rows of part %q of the public column %q", part, column))
}

// describeColumn removes the column by which rows were selected from the columns that the statement
// protects.
func describeColumn(p *model.Privacy, column string) {
	p.PartColumn = column
	p.Statement = strings.Replace(p.Statement, dp.WholeRow.Words(),
		fmt.Sprintf("the whole row (every feature but %q, and the label)", column), 1)
}
