// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

// valid has one of everything; each test below spoils one line of it.
const valid = `name: people
unit: one person
relation: replace-one
max_epsilon: 1.5
file: {delimiter: ",", quote: '"', header: true, trim: true, missing: ["?", ""], ` +
	`comment: "#", skip_records: 1, skip_until: "@data"}
columns:
  - {name: age, role: private, number: {lower: 0, upper: 100, edges: [20, 40], default: 40}}
  - {name: pay, role: public, number: {lower: -0.5, upper: 1e6, transform: log1p}}
  - {name: town, role: private, category: {levels: [a, {value: b, aliases: [bb, bbb]}], missing: true}}
  - {name: ill, role: private, label: {levels: [no, yes], positive: yes, default: no}}
  - {name: id, role: ignored}
`

func TestParseRefusals(t *testing.T) {
	if _, err := Parse([]byte(valid)); err != nil {
		t.Fatal(err)
	}
	manyMissing := `missing: [` + strings.Repeat(`"", `, MaxMissing) + `""]`
	manyClasses := "levels: [no, yes"
	for i := range MaxClasses {
		manyClasses += fmt.Sprintf(", c%d", i)
	}
	manyLevels := "levels: [a, b"
	for i := range 296 {
		manyLevels += fmt.Sprintf(", l%d", i)
	}
	manyLevels += "]"
	manyPairs := "pairs: [" + strings.Repeat("[age, pay], ", MaxPairs) + "[age, pay]]"
	for _, c := range []struct {
		name, old, new string // new in place of old in the valid schema
		want           string // the message: place, requirement, cure
	}{
		{"no name", "name: people\n", "", `schema line 1: name must be given (none given); write name:`},
		{"empty name", "name: people", "name:", `schema line 1: name must be given (got an empty value); write name:`},
		{"name in blanks", "name: people", `name: "  "`, `schema line 1: name must be given`},
		{"name is a list", "name: people", "name: [a]", `name must be one word or text (got a list)`},
		{"name with a control character", "name: people", `name: "a\u0007b"`,
			`name must not hold line breaks or other control characters`},
		{"no unit", "unit: one person\n", "", `unit must be given (none given); write unit: and whose data one row is`},
		{"no relation", "relation: replace-one\n", "", `relation must be given (none given); write relation: replace-one`},
		{"unknown relation", "replace-one", "swap",
			`schema line 3: relation must be replace-one or add-remove (got "swap"); write relation: replace-one`},
		{"blank relation", "replace-one", "___",
			`schema line 3: relation must be filled in (got ___); write relation: replace-one`},
		{"zero max_epsilon", "1.5", "0",
			`max_epsilon must be a decimal number between 1e-9 and 1000 (got "0"); write the largest`},
		{"infinite max_epsilon", "1.5", ".inf", `max_epsilon must be a decimal number between 1e-9 and 1000 (got ".inf")`},
		{"empty max_epsilon", "1.5", "", `max_epsilon must be given (got an empty value)`},
		{"zero max_delta", "max_epsilon: 1.5", "max_delta: 0",
			`max_delta must be a decimal number > 0 and < 1 (got "0"); write the largest`},
		{"max_delta of one", "max_epsilon: 1.5", "max_delta: 1", `max_delta must be a decimal number > 0 and < 1`},
		{"parts without a column", "max_epsilon: 1.5", "parts: village",
			`parts must name one of the columns (got "village"); name the public column`},
		{"parts by a private column", "max_epsilon: 1.5", "parts: town",
			`parts must name a public column: a row must not change its part`},
		{"parts by the label", "max_epsilon: 1.5", "parts: ill", `parts must name one of the columns`},
		{"parts by an ignored column", "max_epsilon: 1.5", "parts: id", `parts must name a public column`},
		{"parts by a number", "max_epsilon: 1.5", "parts: pay", `parts must name a category column with at least 2 levels`},
		{"pair with an unknown column", "max_epsilon: 1.5", "pairs: [[pay, village]]",
			`schema line 4: pairs must name columns other than the label (got "village"); write pairs`},
		{"pair with the label", "max_epsilon: 1.5", "pairs: [[pay, ill]]",
			`pairs must name columns other than the label (got "ill")`},
		{"pair with an ignored column", "max_epsilon: 1.5", "pairs: [[id, pay]]",
			`pairs must name columns that are not ignored (got "id")`},
		{"pair of one column", "max_epsilon: 1.5", "pairs: [[pay, pay]]",
			`pairs must be of two different columns (got pay × pay)`},
		{"pair of three", "max_epsilon: 1.5", "pairs: [[pay, age, town]]",
			`pairs must each be a list of two columns (got a list)`},
		{"pair not in a list", "max_epsilon: 1.5", "pairs: [pay, age]",
			`pairs must each be a list of two columns (got "pay")`},
		{"pair twice", "max_epsilon: 1.5", "pairs: [[pay, age], [age, pay]]",
			`pairs must list each pair once (got age × pay)`},
		{"pair of a list", "max_epsilon: 1.5", "pairs: [[pay, [age]]]", `pairs must be one word or text (got a list)`},
		{"pairs blank", "max_epsilon: 1.5", "pairs: ___", `pairs must be filled in`},
		{"pairs no list", "max_epsilon: 1.5", "pairs: age", `pairs must be a list (got "age")`},
		{"pair of a monotone column", "  - {name: id, role: ignored}",
			"  - {name: id, role: private, number: {lower: 0, upper: 1, monotone: increasing, default: 0}}\npairs: [[age, id]]",
			`pairs must not name a monotone column`},
		{"pair with too many cells", "  - {name: id, role: ignored}", "  - {name: id, role: public, category: {" +
			manyLevels + "}}\npairs: [[id, age]]", `pairs must have at most 4096 cells (got id × age with 4784); each cell`},
		{"too many pairs", "max_epsilon: 1.5", manyPairs, `pairs must have at most 64 entries (got 65)`},
		{"unknown key", "unit: one person", "unit: one person\nunits: x",
			`schema line 3: key must be one of those known here (got another); did you mean unit? the keys are name, ` +
				`unit, relation`},
		{"key twice", "unit: one person", "unit: one person\nunit: x",
			`schema line 3 column 1: text is not valid YAML (got a key given twice); a key must be given once`},

		{"no file", valid[strings.Index(valid, "file:"):strings.Index(valid, "columns:")], "",
			`file must be given (none given); write file: with at least {delimiter:`},
		{"no delimiter", `delimiter: ",", `, "",
			`schema line 5: file delimiter must be given (none given); write one of delimiter: ","`},
		{"two delimiters", `delimiter: ","`, `delimiter: ", "`,
			`file delimiter must be a single character that no number, word or quote is written with (got ", "); write one of`},
		{"digit delimiter", `delimiter: ","`, `delimiter: 1`, `file delimiter must be a single character`},
		{"line break delimiter", `delimiter: ","`, `delimiter: "\n"`, `file delimiter must be a single character`},
		{"no quote", `quote: '"', `, "", `file quote must be given (none given); write quote: '"' if`},
		{"odd quote", `quote: '"'`, `quote: "|"`,
			`file quote must be a double quote, a single quote or empty (got "|"); write quote:`},
		{"no header", "header: true, ", "",
			`file header must be given (none given); write header: true if the first record names the columns`},
		{"header is a word", "header: true", "header: maybe",
			`file header must be true or false (got "maybe"); write header: true`},
		{"header is quoted", "header: true", `header: "true"`, `file header must be true or false`},
		{"blank trim", "trim: true", "trim: ___", `file trim must be filled in (got ___); write trim: true`},
		{"missing is a word", `missing: ["?", ""]`, "missing: NA",
			`file missing must be a list (got "NA"); write the cells that mean missing`},
		{"missing token twice", `["?", ""]`, `["?", "?"]`, `file missing must list each token once (got "?"); remove one`},
		{"missing tokens that look alike", `["?", ""]`, `["\u00e4", "a\u0308"]`,
			`file missing must list each token once (got "\u00e4" and "a\u0308")`},
		{"missing token in blanks", `["?", ""]`, `["? "]`,
			`file missing must not begin or end with white space (got "? "); remove it`},
		{"too many missing tokens", `missing: ["?", ""]`, manyMissing, `file missing must have at most 64 entries (got 65)`},
		{"empty comment", `comment: "#"`, `comment: ""`,
			`file comment must be given (got an empty text); write the characters`},
		{"fractional skip_records", "skip_records: 1", "skip_records: 1.5",
			`file skip_records must be a whole number between 0 and 1048576 (got "1.5")`},
		{"negative skip_records", "skip_records: 1", "skip_records: -1", `file skip_records must be a whole number`},

		{"unknown encoding", "header: true", "header: true, encoding: latin1",
			`file encoding must be one of utf-8, windows-1252, windows-1250, iso-8859-1, iso-8859-15, utf-16 (got "latin1")`},
		{"no thousands", "header: true", `header: true, thousands: ""`, `file thousands must be a comma, a point, an apostrophe or a space`},
		{"long thousands", "header: true", `header: true, thousands: ",,"`, `file thousands must be a comma, a point`},
		{"odd thousands", "header: true", `header: true, thousands: "_"`, `file thousands must be a comma, a point`},
		{"thousands like the fraction", "header: true", `header: true, thousands: "."`,
			`file thousands must differ from the decimal sign (got "."); write decimal: "," beside`},
		{"thousands like the decimal comma", `delimiter: ",", `, `delimiter: ";", decimal: ",", thousands: ",", `,
			`file thousands must differ from the decimal sign (got ",")`},
		{"thousands like the quote", `quote: '"', `, `quote: "'", thousands: "'", `, `file thousands must differ from the quote`},
		{"thousands like the delimiter", `quote: '"', `, `quote: "", thousands: ",", `, `file thousands must differ from the quote, and from the delimiter`},
		{"leading minus", "header: true", "header: true, minus: leading", `file minus must be trailing (got "leading")`},

		{"no columns", valid[strings.Index(valid, "columns:"):], "", `columns must be given (none given); write columns:`},
		{"empty columns", valid[strings.Index(valid, "columns:"):], "columns: []",
			`schema line 6: columns must include the label`},
		{"columns is a word", valid[strings.Index(valid, "columns:"):], "columns: all",
			`columns must be a list (got a text); write columns: with one entry per column`},
		{"column is a word", "{name: id, role: ignored}", "id",
			`schema line 11: column 5 must be a mapping (got "id"); write the keys name, role`},
		{"column without name", "{name: id, role: ignored}", "{role: ignored}",
			`schema line 11: column 5 name must be given (none given); write name:`},
		{"column name in blanks", "name: id", `name: " id"`,
			`column 5 name must not begin or end with white space (got " id"); remove it`},
		{"name twice", "name: id", "name: town", `schema line 11: column "town" name must be unique (got "town")`},
		{"name of the label twice", "name: id", "name: ill", `column "ill" name must be unique`},
		{"no role", "{name: age, role: private,", "{name: age,",
			`schema line 7: column "age" role must be given (none given); write role: private (the guarantee protects it)`},
		{"unknown role", "{name: age, role: private,", "{name: age, role: secret,",
			`column "age" role must be private, public or ignored (got "secret"); write role: private`},
		{"neither number nor category", "{name: id, role: ignored}", "{name: id, role: public}",
			`column "id" number or category must be given (none given); write number: {lower:`},
		{"number and category", "lower: 0, upper: 100, edges: [20, 40], default: 40}",
			"lower: 0, upper: 100, default: 40}, category: {levels: [a]}", `column "age" category must not be combined with number`},
		{"no features", "columns:", "columns:\n  - {name: x, role: public, label: {levels: [a, b], positive: a}}\nrest:",
			`columns must include a public or private column other than the label`},

		{"no lower", "lower: 0, upper: 100", "upper: 100",
			`schema line 7: column "age" lower must be given (none given); write lower: the smallest and largest value a ` +
				`cell may have, from documentation`},
		{"no upper", "lower: 0, upper: 100", "lower: 0", `column "age" upper must be given (none given); write upper:`},
		{"lower is upper", "lower: 0, upper: 100", "lower: 100, upper: 100",
			`column "age" lower must be below upper (got lower 100, upper 100); write the smallest and largest`},
		{"lower above upper", "lower: 0, upper: 100", "lower: 101, upper: 100", `column "age" lower must be below upper`},
		{"infinite lower", "lower: 0", "lower: -.inf",
			`column "age" lower must be a finite number between -1e300 and 1e300 (got -.inf)`},
		{"overflowing upper", "upper: 100", "upper: 1e400",
			`column "age" upper must be a finite number between -1e300 and 1e300 (got 1e400)`},
		{"NaN lower", "lower: 0", "lower: .nan", `column "age" lower must be a finite number`},
		{"bare nan lower", "lower: 0", "lower: nan", `column "age" lower must be a finite number`},
		{"too wide", "upper: 100", "upper: 1e301", `column "age" upper must be a finite number between -1e300 and 1e300`},
		{"hexadecimal lower", "lower: 0", "lower: 0x10",
			`column "age" lower must be a decimal number (got "0x10"); write it without quotes, with a point`},
		{"decimal comma", "upper: 100", `upper: "1,5"`,
			`column "age" upper must be a decimal number (got "1,5"); write it without quotes, with a point`},
		{"underscore", "upper: 100", "upper: 1_000", `column "age" upper must be a decimal number (got "1_000")`},
		{"decimal comma beside commas", `quote: '"', header: true`, `quote: "", header: true, decimal: ","`,
			`file decimal must differ from the delimiter if there are no quotes (got ","); cells are then put between semicolons`},
		{"another decimal", "header: true",
			`header: true, decimal: ";"`, `file decimal must be a point or a comma (got ";")`},
		{"a pattern for every column", "columns:", "ignored: [\"**\"]\ncolumns:",
			`ignored must hold more than * (got "**")`},
		{"a pattern twice", "columns:", "ignored: [\"a*\", \"a*\"]\ncolumns:",
			`ignored must list each pattern once (got "a*")`},
		{"buckets of one", "levels: [a, {value: b, aliases: [bb, bbb]}]", "buckets: 1",
			`column "town" buckets must be between 2 and 65536, levels counted (got 1)`},
		{"a level called as a bucket", "levels: [a, {value: b, aliases: [bb, bbb]}]", "levels: [bucket 2], buckets: 4",
			`column "town" buckets must not be combined with a level of a bucket's name (got "bucket 2")`},
		{"a prefix twice", "levels: [a, {value: b, aliases: [bb, bbb]}]",
			`levels: [{value: a, prefixes: ["25"]}, {value: b, prefixes: ["25"]}]`,
			`column "town" levels must list each prefix once (got "25")`},
		{"an empty prefix", "levels: [a, {value: b, aliases: [bb, bbb]}]", `levels: [{value: a, prefixes: [""]}]`,
			`column "town" level prefixes must not be empty`},
		{"a mapping in a text", "levels: [a, {value: b, aliases: [bb, bbb]}]", `levels: {file: codes.csv}`,
			`column "town" levels file must be named in a schema that is read from a file itself (got "codes.csv")`},
		{"special values and no default", "lower: -0.5, upper: 1e6, transform: log1p",
			"lower: -0.5, upper: 1e6, special: [96]",
			`column "pay" default is required with missing or special (none given); write default:`},
		{"a missing bin and no default", "lower: -0.5, upper: 1e6, transform: log1p",
			"lower: -0.5, upper: 1e6, missing: true", `column "pay" default is required with missing or special`},
		{"special value twice", "edges: [20, 40]", "special: [96, 98, 96.0]",
			`column "age" special must list each once (got 96.0); remove one of the two`},
		{"no special value", "edges: [20, 40]", "special: []", `column "age" special must list at least one (got 0)`},
		{"one special value", "edges: [20, 40]", "special: 96", `column "age" special must be a list`},
		{"a word for a special value", "edges: [20, 40]", "special: [never]",
			`column "age" special must be a decimal number (got "never")`},
		{"too many special values", "edges: [20, 40]", "special: [" + strings.Repeat("1, ", 64) + "1]",
			`column "age" special must have at most 64 entries (got 65)`},
		{"missing neither true nor false", "edges: [20, 40]", "missing: 1", `column "age" missing must be true or false`},
		{"integer with a fraction for a bound", "lower: 0, upper: 100", "lower: 0, upper: 100.5, integer: true",
			`schema line 7: column "age" upper must be whole with integer: true (got 100.5); round the bound away`},
		{"integer from a fraction", "lower: 0, upper: 100", "lower: 0.5, upper: 100, integer: true",
			`column "age" lower must be whole with integer: true (got 0.5)`},
		{"integer neither true nor false", "lower: 0, upper: 100", "lower: 0, upper: 100, integer: yes",
			`column "age" integer must be true or false (got "yes"); write integer: true if cells are whole`},
		{"blank integer", "lower: 0, upper: 100", "lower: 0, upper: 100, integer: ___",
			`column "age" integer must be filled in`},
		{"blank lower", "lower: 0", "lower: ___", `column "age" lower must be filled in (got ___); write lower:`},
		{"log1p at -1", "lower: -0.5", "lower: -1",
			`schema line 8: column "pay" lower must be above -1 for transform: log1p (got -1); raise lower`},
		{"log1p of too narrow bounds", "lower: -0.5, upper: 1e6", "lower: 1e299, upper: 1.0000000000000002e299",
			`column "pay" upper must be further above lower for transform: log1p`},
		{"unknown transform", "log1p", "sqrt",
			`column "pay" transform must be log1p (got "sqrt"); write transform: log1p, or remove the line`},
		{"edges decrease", "[20, 40]", "[40, 20]",
			`column "age" edges must increase strictly and lie between lower and upper, both excluded (got 20); write ` +
				`the bin edges`},
		{"edges repeat", "[20, 40]", "[20, 20]", `column "age" edges must increase strictly`},
		{"edge on the lower bound", "[20, 40]", "[0, 40]", `column "age" edges must increase strictly`},
		{"edge on the upper bound", "[20, 40]", "[20, 100]", `column "age" edges must increase strictly`},
		{"NaN edge", "[20, 40]", "[20, .nan]", `column "age" edges must be a finite number`},
		{"private number without default", ", default: 40", "",
			`schema line 7: column "age" default must be given for a private number (none given); write default:`},
		{"default outside the bounds", "default: 40", "default: 101",
			`column "age" default must lie within lower and upper (got 101); write default:`},
		{"default below the bounds", "default: 40", "default: -1",
			`column "age" default must lie within lower and upper (got -1)`},
		{"NaN default", "default: 40", "default: .nan", `column "age" default must be a finite number`},

		{"unknown bins", "edges: [20, 40]", "bins: equal",
			`column "age" bins must be quantiles (got "equal"); write bins: quantiles`},
		{"bins blank", "edges: [20, 40]", "bins: ___", `column "age" bins must be filled in`},
		{"bins beside edges", "edges: [20, 40]", "edges: [20, 40], bins: quantiles",
			`column "age" bins must not be combined with edges (got both); declared edges are free`},
		{"bins of a category", "missing: true", "bins: quantiles",
			`column "town" key must be one of those known here (got another)`},
		{"unknown groups", "missing: true", "groups: rare",
			`column "town" groups must be a mapping from names to levels (got "rare"); write groups`},
		{"no groups", "missing: true", "groups: {}", `column "town" groups must be a mapping from names`},
		{"groups blank", "missing: true", "groups: ___", `column "town" groups must be filled in`},
		{"group without a name", "missing: true", `groups: {"": [a]}`, `column "town" groups must have names that differ`},
		{"group in blanks", "missing: true", `groups: {" x": [a]}`,
			`column "town" groups must have names that differ, of at most 200 printable characters (got " x")`},
		{"group of a long name", "missing: true", `groups: {` + strings.Repeat("x", 201) + `: [a]}`,
			`column "town" groups must have names that differ`},
		{"group without levels", "missing: true", "groups: {x: []}",
			`column "town" groups x must list at least one level (got a list)`},
		{"group is a word", "missing: true", "groups: {x: a}",
			`column "town" groups x must list at least one level (got "a")`},
		{"group of a stranger", "missing: true", "groups: {x: [c]}",
			`column "town" groups x must list declared levels (got "c"); write it exactly as in levels`},
		{"group of an alias", "missing: true", "groups: {x: [bb]}",
			`column "town" groups x must list declared levels (got "bb")`},
		{"level in two groups", "missing: true", "groups: {x: [a], y: [b, a]}",
			`column "town" groups y must not list a level that is in a group already (got "a"); remove one of the two`},
		{"level twice in a group", "missing: true", "groups: {x: [a, a]}",
			`column "town" groups x must not list a level that is in a group already`},
		{"groups of levels that were refused", "levels: [a, {value: b, aliases: [bb, bbb]}], missing: true",
			"levels: [], groups: {x: [a]}", `column "town" levels must list at least 1`},
		{"groups of a number", "edges: [20, 40]", "groups: {x: [a]}",
			`column "age" key must be one of those known here (got another)`},

		{"category without levels", "levels: [a, {value: b, aliases: [bb, bbb]}], ", "",
			`schema line 9: column "town" levels must be given (none given); write every level a cell may have`},
		{"category with no level", "levels: [a, {value: b, aliases: [bb, bbb]}]", "levels: []",
			`column "town" levels must list at least 1 (got 0); write every level`},
		{"blank level", "levels: [a, ", "levels: [___, ", `column "town" levels must be filled in (got ___); write every level`},
		{"level twice", "levels: [a, ", "levels: [a, a, ",
			`column "town" levels must list each level and alias once (got "a"); remove one of the two`},
		{"level is an alias", "levels: [a, ", "levels: [bb, ",
			`column "town" levels must list each level and alias once (got "bb")`},
		{"levels that look alike", "levels: [a, ", `levels: ["\u00fc", "u\u0308", `,
			`column "town" levels must list each level and alias once (got "\u00fc" and "u\u0308"); remove one of the two`},
		{"alias that looks like a level", "levels: [a, ", `levels: ["\u212b", {value: x, aliases: ["A\u030a"]}, `,
			`levels must list each level and alias once (got "\u212b" and "A\u030a")`},
		{"prefixes that look alike", "levels: [a, ", `levels: [{value: x, prefixes: ["\u00fc", "u\u0308"]}, `,
			`levels must list each prefix once (got "\u00fc" and "u\u0308")`},
		{"alias of its own level", "[bb, bbb]", "[b]", `column "town" levels must list each level and alias once (got "b")`},
		{"level in blanks", "levels: [a, ", `levels: ["a ", `,
			`column "town" levels must not begin or end with white space (got "a "); remove it`},
		{"empty level", "levels: [a, ", `levels: ["", `,
			`column "town" levels must not be empty (got ""); an empty cell is declared as missing: [""] under file`},
		{"level is a missing token", "levels: [a, ", `levels: ["?", `,
			`column "town" levels must not list a missing token (got "?"); remove it here or from missing under file`},
		{"level is null", "levels: [a, ", "levels: [~, ",
			`column "town" levels must be one word or text (got an empty value); put text with special characters in ` +
				`double quotes`},
		{"level without value", "{value: b, ", "{", `column "town" level value must be given (none given); write {value:`},
		{"aliases are a word", "[bb, bbb]", "bb", `column "town" level aliases must be a list (got "bb")`},
		{"unknown key of a level", "{value: b, ", "{value: b, code: 1, ",
			`column "town" level key must be one of those known here (got another); the keys are value, aliases`},

		{"no label", "label: {levels: [no, yes], positive: yes, default: no}", "category: {levels: [no, yes]}",
			`columns must include the label; give the column to be predicted, in its place among the ` +
				`columns, label:`},
		{"two labels", "{name: id, role: ignored}", "{name: id, role: public, label: {levels: [a, b], positive: a}}",
			`schema line 11: column "id" label must be declared once`},
		{"label without role", "{name: ill, role: private,", "{name: ill,",
			`schema line 10: column "ill" role must be given (none given); write role: private (the guarantee protects ` +
				`the label)`},
		{"ignored label", "{name: ill, role: private,", "{name: ill, role: ignored,",
			`column "ill" role must be private or public for the label (got "ignored")`},
		{"label without levels", "levels: [no, yes], ", "",
			`column "ill" levels must be given (none given); write every class, e.g. levels:`},
		{"label with one level", "[no, yes]", "[no]", `column "ill" levels must list at least 2 (got 1); write every class`},
		{"label with too many levels", "levels: [no, yes", manyClasses,
			`column "ill" levels must have at most 256 entries (got 258)`},
		{"label without positive", "positive: yes, ", "",
			`column "ill" positive must be given (none given); write positive:`},
		{"positive is not a level", "positive: yes", "positive: Yes",
			`column "ill" positive must be one of the classes (got "Yes"); write it exactly as in levels`},
		{"positive of three levels", "[no, yes]", "[no, yes, perhaps]",
			`column "ill" positive belongs to a label of two classes (got 3 classes); remove the line, or make the ` +
				`label binary`},
		{"private label without default", ", default: no}", "}",
			`schema line 10: column "ill" default must be given (none given); write default: and the class an unreadable ` +
				`label becomes`},
		{"default is not a level", "default: no", "default: maybe",
			`column "ill" default must be one of the classes (got "maybe")`},
		{"weights are a list", "default: no}", "default: no, weights: [1, 2]}",
			`column "ill" weights must be a mapping (got a list); write the keys no, yes`},
		{"weight of a stranger", "default: no}", "default: no, weights: {no: 1, yes: 2, maybe: 3}}",
			`column "ill" weights key must be one of those known here (got another); the keys are no, yes`},
		{"weight left out", "default: no}", "default: no, weights: {yes: 2}}",
			`column "ill" weights no must be given (none given); give every class a number`},
		{"weight twice", "default: no}", "default: no, weights: {no: 1, yes: 2, yes: 3}}", `a key must be given once`},
		{"weight zero", "default: no}", "default: no, weights: {no: 0, yes: 2}}",
			`column "ill" weights no must be between 1e-6 and 1e6 (got 0)`},
		{"weight negative", "default: no}", "default: no, weights: {no: 1, yes: -2}}",
			`column "ill" weights yes must be between 1e-6 and 1e6 (got -2)`},
		{"weight not a number", "default: no}", "default: no, weights: {no: 1, yes: .nan}}",
			`column "ill" weights yes must be a finite number`},
		{"weight infinite", "default: no}", "default: no, weights: {no: 1, yes: .inf}}",
			`column "ill" weights yes must be a finite number`},
		{"weight blank", "default: no}", "default: no, weights: {no: 1, yes: ___}}",
			`column "ill" weights yes must be filled in`},
		{"weights blank", "default: no}", "default: no, weights: ___}", `column "ill" weights must be a mapping`},
		{"number and label", "{name: ill, role: private,", "{name: ill, role: private, number: {lower: 0, upper: 1},",
			`column "ill" number must not be combined with label`},

		{"not YAML", "columns:", "columns: [", `not valid YAML`},
		{"anchor", "name: people", "name: &x people", `schema line 1: text may not begin a value with any of & * !`},
		{"alias", "name: people", "name: *x", `schema line 1: text may not begin a value with any of & * !`},
		{"tag", "name: people", "name: !!str people", `schema line 1: text may not begin a value with any of & * !`},
		{"merge", "name: people", "<<: {name: people}", `schema line 1: text may not begin a value with any of & * !`},
		{"deep flow", "name: people", "name: [[[[[[[[[[[[]]]]]]]]]]]]", `schema line 1: text must not be nested more than 8 deep`},
		{"deep dashes", "name: people", "name:\n  - - - - - - - - - - - a", `schema line 2: text must not be nested more than 8 deep`},
		{"deep block", "name: people", "a:\n b:\n  c:\n   d:\n    e:\n     f:\n      g:\n       h:\n        i: x",
			`schema line 9: text must not be nested more than 8 deep`},
		{"many keys", "name: people", strings.Repeat("k: v\n", yamltext.MaxKeys) + "k: v",
			`schema line 4097: text must not have more than 4096 keys in one mapping`},
		{"many flow keys", "name: people", "name: {" + strings.Repeat("k: v, ", yamltext.MaxKeys) + "k: v}",
			`schema line 1: text must not have more than 4096 keys in one mapping`},
		{"document end", "name: people", "name: people\n...\nname: x", `schema line 2: text must be one YAML document`},
		{"second document", "name: people", "name: people\n---\nname: x", `schema line 2: text must be one YAML document`},
		{"NUL", "name: people", "name: people\x00", `must not hold a NUL byte`},
		{"not UTF-8", "name: people", "name: p\xffople", `must be UTF-8`},
		{"empty", valid, "", `schema must not be empty; begin with a template of a schema`},
		{"a list", valid, "- a\n", `must be a mapping (got a list); a schema begins like`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(valid, c.old) {
				t.Fatalf("the valid schema lacks %q", c.old)
			}
			s, err := Parse([]byte(strings.Replace(valid, c.old, c.new, 1)))
			if err == nil {
				t.Fatalf("accepted: %+v", s)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestParseReportsEveryFault(t *testing.T) {
	text := strings.NewReplacer("unit: one person\n", "", "lower: 0, ", "", "positive: yes, ", "").Replace(valid)
	_, err := Parse([]byte(text))
	found, ok := errors.AsType[problems](err)
	if !ok || len(found) != 3 {
		t.Fatalf("got %v, want three faults", err)
	}
	if p, ok := errors.AsType[*dp.ParamError](err); !ok || p.Param != "unit" {
		t.Errorf("errors.As found %v, want the first *dp.ParamError", p)
	}
	if got := err.Error(); !strings.HasPrefix(got, "3 problems\n  schema line 1: unit") {
		t.Errorf("report begins %q", got)
	}
}

func TestParseStopsReportingAtTheLimit(t *testing.T) {
	_, err := Parse([]byte(valid + strings.Repeat("  - {role: none}\n", 4000)))
	found, _ := errors.AsType[problems](err)
	if len(found) != maxProblems {
		t.Errorf("got %d faults, want %d", len(found), maxProblems)
	}
}

func TestParseBounds(t *testing.T) {
	for name, text := range map[string]string{
		"longer than 2097152 bytes":               valid + strings.Repeat("#", MaxBytes),
		"columns must have at most 16384 entries": valid + strings.Repeat("  - {name: x, role: ignored}\n", MaxColumns),
		`"town" levels must have at most 65536 entries`: strings.Replace(valid, "levels: [a, ",
			"levels: [a"+strings.Repeat(", a", MaxLevels)+", ", 1),
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %.200v, want %s", err, name)
		}
	}
}

// TestEveryFormHasACure: a text that is no YAML is refused with what to do about it, and
// with the line. The text itself is never repeated.
func TestEveryFormHasACure(t *testing.T) {
	for _, c := range []struct{ text, place, hint string }{
		{"\tname: x\n", "schema line 1", "spaces"},
		{"name: x\nfile:\n\tdelimiter: ','\n", "schema line 3", "spaces"},
		{"name: x\n\n\tunit: secret\n", "schema line 3", "spaces"},
		{"columns:\n  - name: a\n\t role: public\n", "schema line 3", "spaces"},
		{"name: >\n\tsecret\n", "schema line 2", "spaces"},
		{"name:x\nunit: y\n", "schema line 1", "space after the colon"},
		{"name: x\nunit: secret: b\n", "schema line 2", "double quotes"},
		{"columns:\n - {name: age, role: public\n", "schema line 2", "close each {"},
		{"columns: [secret\n", "schema line 1", "close each ["},
		{"columns:\n- {name: age}\n  - {name: b}\n", "schema line 3", "one column"},
		{"columns:\n  - name: a\n   role: public\n", "schema line 3", "one column"},
		{"name: 'it's'\n", "schema line 1", "double quotes"},
		{"name: @secret\n", "schema line 1", "double quotes"},
		{"name: `secret`\n", "schema line 1", "double quotes"},
		{"name: %secret\n", "schema line 1", "double quotes"},
		{"columns:\n  - {name: a, category: {levels: [<5, >=5]}}\n", "schema line 2", "double quotes"},
		{"name: \"secret\nunit: y\n", "schema line 1", "close the quote"},
		{"name: x\nname: y\n", "schema line 2", "given once"},
		{"- a\nb: c\n", "schema line 2", "one column"},
		{"name: M\xfcller\n", "schema", "WINDOWS-1252"},
		{"\xff\xfen\x00a\x00", "schema", "UTF-16"},
	} {
		_, err := Parse([]byte(c.text))
		p, ok := errors.AsType[*dp.ParamError](err)
		if !ok || !strings.HasPrefix(p.Op, c.place) || !strings.Contains(p.Hint, c.hint) || strings.Contains(p.Error(), "secret") {
			t.Errorf("%q: %v; want %s and a hint with %q", c.text, err, c.place, c.hint)
		}
	}
}
