// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// YesNo are the spellings of no and of yes that yes_no reads.
var YesNo = [2][]string{
	{"no", "No", "NO", "n", "N", "false", "False", "FALSE", "f", "F", "0", "0.0"},
	{"yes", "Yes", "YES", "y", "Y", "true", "True", "TRUE", "t", "T", "1", "1.0"},
}

// yesAndNo returns the levels of a yes-or-no column, in the spellings of programs and people. It omits
// spellings that mean a missing cell in this file.
func yesAndNo(line int, d *Dialect) *node {
	levels := &node{form: list, line: line}
	for _, words := range YesNo {
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(d.Missing, w) })
		level := &node{form: mapping, line: line}
		level.addPair("value", textNode(words[0]))
		level.addPair("aliases", textsNode(words[1:]))
		levels.items = append(levels.items, level)
	}
	return levels
}

// readMapping reads levels from a file that maps codes to levels, which are then stored in models. The
// file is CSV with the columns code and level; a code that ends in * is a prefix. Errors quote nothing
// of the file, which may be a person's table given by mistake.
func (r *reader) readMapping(f fields, n *node) *node {
	const hint = "write levels: {file: codes.csv}, a CSV file with the header code,level and a code and its level in " +
		"each line; a code that ends in * is a prefix"
	at := r.openMapping(n, f.where+"levels ", "file")
	name := at.text("file", hint)
	refuse := func(want string) *node {
		at.refuse("file", want, strconv.Quote(name), hint)
		return nil
	}
	switch {
	case name == "":
		return nil
	case r.dir == "":
		return refuse("must be named in a schema that is read from a file itself")
	case !filepath.IsLocal(name):
		return refuse("must lie in the folder of the schema or below")
	}
	file, err := openfile.Regular(filepath.Join(r.dir, name))
	if err != nil {
		return refuse("must be there and readable")
	}
	defer file.Close()
	in := csv.NewReader(io.LimitReader(file, MaxBytes))
	in.FieldsPerRecord = 2
	head, err := in.Read()
	if err != nil || strings.TrimPrefix(head[0], "\ufeff") != "code" || head[1] != "level" {
		return refuse("must begin with the header code,level")
	}
	levels, index := &node{form: list, line: n.line}, map[string]*node{}
	lists := map[*node][2]*node{} // aliases and prefixes
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || record[0] == "" || record[0] == "*" || record[1] == "" {
			return refuse("must have a code and a level in each line")
		}
		level := index[record[1]]
		if level == nil {
			level = &node{form: mapping, line: n.line}
			level.addPair("value", textNode(record[1]))
			index[record[1]] = level
			lists[level] = [2]*node{{form: list, line: n.line}, {form: list, line: n.line}}
			levels.items = append(levels.items, level)
		}
		if prefix, ok := strings.CutSuffix(record[0], "*"); ok {
			lists[level][1].items = append(lists[level][1].items, textNode(prefix))
		} else if record[0] != record[1] {
			lists[level][0].items = append(lists[level][0].items, textNode(record[0]))
		}
	}
	for _, level := range levels.items {
		for k, key := range []string{"aliases", "prefixes"} {
			if some := lists[level][k]; len(some.items) > 0 {
				level.addPair(key, some)
			}
		}
	}
	return levels
}

// FoldText removes white space and letter case from a text. Readers may confuse two texts that are
// equal after it.
func FoldText(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), "")) }

// FoldName is FoldText, also without the characters that separate the words of a name.
func FoldName(name string) string { return separators.Replace(FoldText(name)) }

var separators = strings.NewReplacer("_", "", "-", "", ".", "")
