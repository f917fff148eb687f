// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// required are the keys that each kind of column must have, in the order in which they are written. A
// default is required for private columns only.
var required = map[string][]string{"number": {"lower", "upper", "default"}, "category": {"levels"},
	"date": {"format", "lower", "upper", "default"}, "label": {"levels", "positive"}}

// Change is a set of facts about a column, or about the table if Column is "". Set has the keys of Outline,
// with texts, booleans and lists of texts; an empty text or nil removes a fact.
type Change struct {
	Column string         `json:"column"`
	Set    map[string]any `json:"set"`
}

// Edit changes the facts about a column in a text, or about the table if column is "", and leaves
// everything else unchanged, comments included. Required facts that are not given are left blank.
func Edit(text []byte, column string, set map[string]any) ([]byte, error) {
	return EditAll(text, []Change{{column, set}})
}

// EditAll is Edit for many columns. The text is read once for each fact that one column gets, however many
// columns there are: 300 columns would take 300 times as long as one.
func EditAll(text []byte, changes []Change) ([]byte, error) {
	var open []fact
	for _, c := range changes {
		for _, key := range orderKeys(c.Set) {
			open = append(open, fact{c.Column, key, c.Set[key]})
		}
	}
	for len(open) > 0 {
		e, err := openEditor(text)
		if err == nil {
			open, err = e.applySome(open)
		}
		if err != nil {
			return nil, err
		}
		text = []byte(strings.Join(e.lines, ""))
	}
	return text, nil
}

// fact is one thing to say.
type fact struct {
	column, key string
	value       any
}

// applySome applies the first fact of each column, from the last line to the first, so that the lines of
// the others stay where they are; and returns the rest. A fact of the table is applied alone.
func (e *editor) applySome(facts []fact) (rest []fact, err error) {
	if facts[0].column == "" {
		return facts[1:], e.applyTable(facts[0].key, facts[0].value)
	}
	items := map[string]*yamltext.Node{}
	for _, item := range e.root.Find("columns").Items {
		if name, _ := valueOf(item.Find("name")).(string); item.Kind == yamltext.Mapping && items[name] == nil {
			items[name] = item
		}
	}
	now := map[int]fact{} // by line: columns of one line take turns
	for i, f := range facts {
		if f.column == "" {
			rest = append(rest, facts[i:]...)
			break
		}
		item := items[f.column]
		if item == nil {
			return nil, refuseEdit("column", "must be one of the schema's")
		}
		if _, taken := now[item.Line]; taken {
			rest = append(rest, f)
		} else {
			now[item.Line] = f
		}
	}
	for _, line := range slices.Backward(slices.Sorted(maps.Keys(now))) {
		f := now[line]
		if err := e.applyColumn(items[f.column], f.key, f.value); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// orderKeys sorts the role and the kind first, because other facts depend on them.
func orderKeys(set map[string]any) []string {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(k string) bool { return k == "role" || k == "kind" })
	var first []string
	for _, k := range []string{"role", "kind"} {
		if _, ok := set[k]; ok {
			first = append(first, k)
		}
	}
	return append(first, rest...)
}

// editor holds a text as lines, each with its line break, and its parsed content.
type editor struct {
	lines []string
	root  *yamltext.Node
}

func openEditor(text []byte) (*editor, error) {
	root, err := yamltext.Parse("schema", text)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(yamltext.TrimMark(text)), "\n")
	if last := len(lines) - 1; lines[last] != "" && !strings.HasSuffix(lines[last], "\n") {
		lines[last] += "\n"
	}
	return &editor{lines, root}, nil
}

func refuseEdit(param, want string) error {
	return &dp.ParamError{Op: "schema", Param: param, Want: want}
}

func (e *editor) applyTable(key string, v any) error {
	value := valueNode(key, v)
	switch key {
	case "name", "unit", "relation", "max_epsilon", "max_delta":
		e.set(e.root, 0, key, value)
	case "person":
		if value != nil {
			value = &yamltext.Node{Kind: yamltext.Mapping,
				Pairs: []yamltext.Pair{{Key: "column", Value: value}, {Key: "rows", Value: plainNode("1")}}}
		}
		e.set(e.root, 0, key, value)
	case "missing", "missing_cells":
		if text, ok := v.(string); ok { // as it is typed, with commas
			value = &yamltext.Node{Kind: yamltext.List}
			for _, cell := range strings.Split(text, ",") {
				if cell = strings.TrimSpace(cell); cell != "" {
					value.Items = append(value.Items, textNode(strings.Trim(cell, `"`)))
				}
			}
		}
		e.set(e.root.Find("file"), e.lineOf(e.root, "file"), "missing", value)
	case "trim", "delimiter", "quote", "header":
		e.set(e.root.Find("file"), e.lineOf(e.root, "file"), key, value)
	default:
		return refuseEdit("key", "must be name, unit, relation, person, max_epsilon, max_delta, trim or missing")
	}
	return nil
}

func (e *editor) applyColumn(item *yamltext.Node, key string, v any) error {
	kind := ""
	for _, k := range kinds {
		if item.Find(k).Kind == yamltext.Mapping {
			kind = k
		}
	}
	role, _ := valueOf(item.Find("role")).(string)
	switch {
	case key == "name":
		return refuseEdit("name", "must stay: it is the file's")
	case key == "role" || key == "note":
		e.set(item, item.Line, key, valueNode(key, v))
		return nil
	case key == "kind":
		to, _ := v.(string)
		if !slices.Contains(kinds, to) && to != "" {
			return refuseEdit("kind", "must be number, category, date or label")
		}
		facts := &yamltext.Node{Kind: yamltext.Mapping}
		completeFacts(facts, to, role)
		if to == kind {
			return nil
		}
		if kind == "" && to != "" {
			e.set(item, item.Line, to, facts)
			return nil
		}
		e.rename(item, kind, to, facts)
		return nil
	case kind == "":
		return refuseEdit("kind", "must be given first")
	}
	facts := *item.Find(kind)
	facts.Pairs = slices.DeleteFunc(slices.Clone(facts.Pairs), func(p yamltext.Pair) bool { return p.Key == key })
	if value := valueNode(key, v); value != nil {
		if key == "levels" {
			keepSpellings(value, item.Find(kind).Find(key))
		}
		at := slices.IndexFunc(item.Find(kind).Pairs, func(p yamltext.Pair) bool { return p.Key == key })
		if at < 0 {
			at = len(facts.Pairs)
		}
		facts.Pairs = slices.Insert(facts.Pairs, at, yamltext.Pair{Key: key, Value: value})
	}
	completeFacts(&facts, kind, role)
	e.set(item, item.Line, kind, &facts)
	return nil
}

// completeFacts adds a blank for each required fact that is missing.
func completeFacts(facts *yamltext.Node, kind, role string) {
	for _, key := range required[kind] {
		switch {
		case facts.Find(key).Kind != yamltext.Empty, key == "default" && role != string(schema.Private),
			key == "levels" && facts.Find("buckets").Kind != yamltext.Empty, key == "positive" && len(facts.Find("levels").Items) > 2:
		default:
			facts.Pairs = append(facts.Pairs, yamltext.Pair{Key: key, Value: plainNode(schema.Blank)})
		}
	}
}

// keepSpellings keeps the aliases of levels that are not removed.
func keepSpellings(levels, old *yamltext.Node) {
	for i, level := range levels.Items {
		for _, item := range old.Items {
			if item.Kind == yamltext.Mapping && item.Find("value").Text == level.Text {
				levels.Items[i] = item
			}
		}
	}
}

func plainNode(text string) *yamltext.Node { return &yamltext.Node{Kind: yamltext.Plain, Text: text} }

func textNode(text string) *yamltext.Node { return &yamltext.Node{Kind: yamltext.Quoted, Text: text} }

// valueNode makes a node of a value; nil removes the value.
func valueNode(key string, v any) *yamltext.Node {
	switch v := v.(type) {
	case bool:
		return plainNode(strconv.FormatBool(v))
	case float64:
		return plainNode(strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		v = strings.TrimSpace(v)
		if slices.Contains([]string{"lower", "upper", "default", "max_epsilon", "max_delta", "buckets"}, key) {
			if _, err := strconv.ParseFloat(v, 64); err == nil {
				return plainNode(v)
			}
		}
		if v == "true" || v == "false" {
			return plainNode(v)
		}
		if v == "" {
			return nil
		}
		return textNode(v)
	case []any:
		n := &yamltext.Node{Kind: yamltext.List}
		for _, item := range v {
			if key == "special" || key == "edges" {
				n.Items = append(n.Items, plainNode(fmt.Sprint(item)))
			} else {
				n.Items = append(n.Items, textNode(fmt.Sprint(item)))
			}
		}
		return n
	}
	return nil
}

func (e *editor) lineOf(n *yamltext.Node, key string) int {
	for _, p := range n.Pairs {
		if p.Key == key {
			return p.Line
		}
	}
	return 0
}

// set sets a key of a mapping to a value, or removes the key if value is nil. line is the line on
// which the mapping begins; 0 for the whole text.
func (e *editor) set(m *yamltext.Node, line int, key string, value *yamltext.Node) {
	if !e.isBlock(m) {
		m.Pairs = slices.DeleteFunc(m.Pairs, func(p yamltext.Pair) bool { return p.Key == key && value == nil })
		at := slices.IndexFunc(m.Pairs, func(p yamltext.Pair) bool { return p.Key == key })
		switch {
		case at >= 0:
			m.Pairs[at].Value = value
		case value != nil:
			m.Pairs = append(m.Pairs, yamltext.Pair{Key: key, Value: value})
		}
		e.replaceValue(line, yamltext.Flow(m))
		return
	}
	at := e.lineOf(m, key)
	switch {
	case at > 0 && value == nil:
		e.lines = slices.Delete(e.lines, at-1, e.endOf(at))
	case at > 0:
		e.replaceValue(at, yamltext.Flow(value))
	case value != nil:
		after := e.anchor(m)
		indent := strings.Repeat(" ", keyColumn(e.lines[m.Pairs[0].Line-1]))
		e.lines = slices.Insert(e.lines, e.endOf(after), indent+key+": "+yamltext.Flow(value)+"\n")
	}
}

// anchor returns the line of the key of a block mapping after which a new key is inserted.
func (e *editor) anchor(m *yamltext.Node) int {
	for _, key := range []string{"role", "relation", "name"} {
		if at := e.lineOf(m, key); at > 0 {
			return at
		}
	}
	return m.Pairs[len(m.Pairs)-1].Line
}

// rename replaces one kind by another; "" means none.
func (e *editor) rename(item *yamltext.Node, kind, to string, facts *yamltext.Node) {
	if to == "" || !e.isBlock(item) {
		for i := range item.Pairs {
			if item.Pairs[i].Key == kind && to != "" {
				item.Pairs[i].Key = to
			}
		}
		if to == "" {
			to, facts = kind, nil
		}
		e.set(item, item.Line, to, facts)
		return
	}
	at := e.lineOf(item, kind)
	line := e.lines[at-1]
	e.lines[at-1] = strings.Replace(line, kind+":", to+":", 1)
	e.replaceValue(at, yamltext.Flow(facts))
}

// isBlock distinguishes a mapping with one key per line from one in braces.
func (e *editor) isBlock(m *yamltext.Node) bool {
	if len(m.Pairs) == 0 {
		return false
	}
	line := e.lines[m.Pairs[0].Line-1]
	return strings.HasPrefix(strings.TrimLeft(line[keyColumn(line):], `"'`), m.Pairs[0].Key)
}

// keyColumn returns the position of a line's first key, after the dash of a list.
func keyColumn(line string) int {
	at := len(line) - len(strings.TrimLeft(line, " "))
	if strings.HasPrefix(line[at:], "-") {
		at++
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
	}
	return at
}

// endOf returns the number of lines up to the end of the value that begins on a line. Lines with a
// larger indent belong to it.
func (e *editor) endOf(line int) int {
	end := line
	for k := line; k < len(e.lines); k++ {
		text := strings.TrimSpace(e.lines[k])
		indent := len(e.lines[k]) - len(strings.TrimLeft(e.lines[k], " "))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if indent <= keyColumn(e.lines[line-1]) {
			break
		}
		end = k + 1
	}
	return end
}

// replaceValue replaces a value on its line, and keeps the comment there.
func (e *editor) replaceValue(line int, value string) {
	old, end := e.lines[line-1], e.endOf(line)
	start := keyColumn(old)
	rest := old[start:]
	if !strings.HasPrefix(rest, "{") { // the key goes before
		start += strings.Index(rest, ":") + 1
		rest, value = old[start:], " "+value
	}
	comment := ""
	if at := commentIn(rest); at >= 0 {
		comment = strings.TrimRight(rest[at:], "\r\n")
		for at > 0 && rest[at-1] == ' ' {
			at--
			comment = " " + comment
		}
	}
	e.lines = slices.Replace(e.lines, line-1, end, old[:start]+value+comment+"\n")
}

// commentIn returns the position of a comment, outside of quotes; -1 if there is none.
func commentIn(text string) int {
	var in rune
	for i, c := range text {
		switch {
		case in != 0:
			if c == in {
				in = 0
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.ContainsRune(" [{,:", rune(text[i-1]))): // no apostrophe
			in = c
		case c == '#' && (i == 0 || text[i-1] == ' '):
			return i
		}
	}
	return -1
}
