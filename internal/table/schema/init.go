// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// Init writes a commented schema template for a file whose header has these columns. Only names are
// known, so every fact about the cells is left blank ("___"), and Parse refuses the template until all
// blanks are filled in. d is the text format with which the caller read the header; only its
// delimiter, quote and header are used. Names are trimmed; an empty, repeated or unprintable name is
// refused with a *dp.ParamError.
func Init(names []string, d Dialect) ([]byte, error) { return Draft(names, d, nil, DraftOptions{}) }

// DraftOptions are choices for all columns of a draft.
type DraftOptions struct {
	Role        string // role of columns without one in the codebook: private, or "" for a blank
	AcceptNames bool   // write the proposals for well-known names as declarations rather than comments
}

// Draft is Init with the facts of a codebook filled in.
func Draft(names []string, d Dialect, book Codebook, o DraftOptions) ([]byte, error) {
	refuse := func(param, want string, got any, hint string) ([]byte, error) {
		return nil, &dp.ParamError{Op: "schema init", Param: param, Want: want, Got: got, Hint: hint}
	}
	if len(names) < 2 || len(names) > MaxColumns {
		return refuse("columns", fmt.Sprintf("must number 2 to %d, the label included", MaxColumns), len(names),
			"is the delimiter right?")
	}
	if o.Role == "" {
		o.Role = Blank
	} else if o.Role != string(Private) {
		return refuse("role", "must be private, which protects every undecided column", o.Role, "")
	}
	labelled := slices.ContainsFunc(slices.Collect(maps.Values(book)), func(e Entry) bool { return e.Type == "label" })
	seen := map[string]int{}
	encoding := "# encoding: windows-1252 # optional: of files that are not UTF-8"
	if d.Encoding != "" {
		encoding = "encoding: " + d.Encoding
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, templateHead, yamltext.Quote(string(d.Delimiter)), yamlQuote(d.Quote), d.Header, encoding)
	for i, name := range names {
		name = strings.TrimSpace(name)
		param := fmt.Sprintf("name of column %d", i+1)
		first, twice := seen[name]
		switch {
		case name == "":
			return refuse(param, "must not be empty", nil, "repair the header, or treat the file as one without a header")
		case !utf8.ValidString(name) || strings.ContainsFunc(name, isHidden):
			return refuse(param, "must be printable UTF-8", nil, "repair the header")
		case twice:
			// not quoted: it may be a cell
			return refuse(param, "must be unique", fmt.Sprintf("that of column %d", first), "repair the header")
		}
		seen[name] = i + 1
		if e, ok := book[name]; ok {
			b.WriteString(e.write(name, &o, labelled))
			continue
		}
		fmt.Fprintf(&b, templateColumn, flowText(textNode(name)), o.Role)
		b.WriteString(commentProposal(Propose(name)) + templateKinds)
	}
	for _, name := range slices.Sorted(maps.Keys(book)) {
		if seen[name] == 0 {
			return refuse("codebook", "must be about columns of the table", strconv.Quote(name), "is it another table's?")
		}
	}
	b.WriteString(templateTail)
	return b.Bytes(), nil
}

// InitColumns is Init for a file without a header, whose first line is a person's record. It names the
// columns column_1 to column_n.
func InitColumns(n int, d Dialect) ([]byte, error) {
	d.Header = false
	names := make([]string, min(max(n, 0), MaxColumns+1)) // Init refuses the rest
	for i := range names {
		names[i] = fmt.Sprintf("column_%d", i+1)
	}
	return Init(names, d)
}

func yamlQuote(q rune) string {
	if q == 0 {
		return `""`
	}
	return yamltext.Quote(string(q))
}

const templateHead = `# A schema: everything discreet may know about a table before it looks at it.
# Fill in every ___ ; as long as one is left the schema is refused. Take bounds
# and levels from documentation, law or common knowledge, never from the rows:
# what is written here is public, and is not covered by the privacy guarantee.
name: ___                # what the table is called
unit: ___                # the unit of privacy: what one row is about, e.g. "one hospital admission"
relation: ___            # replace-one: neighbouring tables differ in the protected part of one row, and the
                         #              number of rows is public
                         # add-remove:  neighbouring tables differ by one whole row
# max_epsilon: 1         # optional: the largest ε one training may spend
# max_delta: 1e-7        # optional: the largest δ; without it and with max_epsilon, none
# parts: ___             # optional: the public column whose levels divide the rows into parts
# pairs: [[___, ___]]    # optional: columns that interact, such as [month, day]
file:
  delimiter: %s
  quote: %s
  header: %t
  trim: ___              # true: white space around a cell does not count; false: it does
  missing: ___           # the cells that mean "missing", e.g. ["", "?", NA]; [] if there are none
  %s
  # thousands: ","       # optional: numbers are written like 1,234; decimal: "," where fractions are like 1,5
  # minus: trailing      # optional: negative numbers are written like 12-
  # comment: "#"         # optional: records starting with this are skipped
  # skip_records: 1      # optional: so many records before the header or the first row are skipped
  # skip_until: "@data"  # optional: everything up to and including this line is skipped

# One entry per column, in file order. For each, fill in the role
#   private  the guarantee protects the column
#   public   it does not
#   ignored  the column is never read
# and keep one of the three lines below it without its "# " (an ignored column needs none):
#   number    cells are clamped to lower and upper; default stands in for a missing or unreadable cell
#             (a number must have one if the guarantee protects it). Add integer: true if cells are
#             whole, such as counts and years: each value has a bin if there are few; missing: true to give missing
#             cells a bin of their own; special: [96, 98] for codes that are no amounts; transform: log1p for log(1+x),
#             monotone: increasing (or decreasing) to have the model follow it, bins: quantiles to have
#             learner additive choose bins with about the same number of rows each, at a price.
#   category  levels lists every value; any other cell counts as "other"; with missing: true a missing
#             cell has a level of its own. {value: a, aliases: [b, c]} in place of a level: b and c mean a.
#             groups: {NAME: [LEVEL, ...], ...} has learner additive take levels together.
#   label     exactly one column: what is to be predicted. positive is the class whose probability a score is;
#             default is the class of an unreadable label, required if the guarantee protects the label.
#             With more than two classes there is no positive one. weights: {CLASS: NUMBER, ...}, for
#             every level, makes rows of some levels count more, if mistakes about them cost more.
columns:
`

const templateColumn = `  - name: %s
    role: %s
`

const templateKinds = `    # number: {lower: ___, upper: ___, default: ___}
    # category: {levels: [___, ___], missing: false}
    # label: {levels: [___, ___], positive: ___}
`

const templateTail = `
# Optional: columns that no file has and that follow from several numbers of the same row, such as the
# worst of monthly delays; private if one of them is. monotone, edges and bins as for a number.
# derived:
#   - {name: ___, largest: [___, ___]}  # or smallest: or mean:
`
