// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// jsonKeys are the keys of an entry of a codebook in JSON.
var jsonKeys = append(slices.Clone(codebookKeys[1:]), "positive", "default")

// parseJSON reads a codebook that is one JSON object. Its keys are names of columns, and its values objects
// with the keys of a codebook in CSV but for name. levels is a list of texts, each a whole level, or yes_no;
// special is a list of numbers. A label may have the keys positive and default, as in a schema.
func parseJSON(text io.Reader) (Codebook, error) {
	in := json.NewDecoder(text)
	in.UseNumber()
	book, entry := Codebook{}, 0
	refuse := func(want string) (Codebook, error) {
		return nil, &dp.ParamError{Op: "schema init", Param: fmt.Sprintf("codebook entry %d", entry), Want: want,
			Hint: "in JSON a codebook is {COLUMN: {KEY: VALUE, ...}, ...} with the keys " + strings.Join(jsonKeys, ", ")}
	}
	const noJSON = "must be JSON: an object of one object per column"
	if _, err := in.Token(); err != nil {
		return refuse(noJSON)
	}
	for in.More() {
		entry++
		name, err := in.Token()
		facts := map[string]any{}
		if err = errors.Join(err, in.Decode(&facts)); err != nil {
			return refuse(noJSON)
		}
		e, want := readFacts(name.(string), facts)
		if _, twice := book[strings.TrimSpace(name.(string))]; twice {
			want = "must name each column once"
		}
		if want != "" {
			return refuse(want)
		}
		book[strings.TrimSpace(name.(string))] = e
	}
	if _, err := in.Token(); err != nil {
		return refuse(noJSON)
	}
	return book, nil
}

// readFacts reads one entry; want describes a fault.
func readFacts(name string, facts map[string]any) (e Entry, want string) {
	head, record := []string{"name"}, []string{name}
	var levels []string
	var yesNo bool
	classes := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(facts)) {
		value, ok := facts[key], slices.Contains(jsonKeys, key)
		switch text, isText := scalarOf(value); {
		case !ok:
		case key == "levels" && text == "yes_no":
			yesNo = true
		case key == "levels":
			levels, ok = textsOf(value)
		case key == "special":
			numbers, listed := textsOf(value)
			ok = listed
			head, record = append(head, key), append(record, strings.Join(numbers, ";"))
		case key == "positive" || key == "default":
			classes[key], ok = text, isText
		default:
			ok = isText
			head, record = append(head, key), append(record, text)
		}
		if !ok {
			return e, "must have known keys with texts and numbers; levels and special are lists"
		}
	}
	if _, e, want = readEntry(head, record); want != "" {
		return e, want
	}
	if e.Type != "label" && (yesNo || len(classes) > 0) {
		return e, "must be of the type label to have positive or default, or levels that are yes_no"
	}
	for _, level := range append(slices.Clone(levels), classes["positive"], classes["default"]) {
		if strings.ContainsFunc(level, isHidden) {
			return e, "must have levels without line breaks and other control characters"
		}
	}
	if slices.ContainsFunc(levels, func(level string) bool { return strings.TrimSpace(level) == "" }) {
		return e, "must have levels that are not empty: a missing cell has a level of its own"
	}
	for _, level := range levels {
		e.levels = append(e.levels, [2]string{level, ""})
	}
	e.yesNo, e.positive, e.absent = yesNo, classes["positive"], classes["default"]
	return e, ""
}

// scalarOf returns a text, or a number as text.
func scalarOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func textsOf(v any) (texts []string, ok bool) {
	list, ok := v.([]any)
	for _, item := range list {
		text, isText := scalarOf(item)
		texts, ok = append(texts, text), ok && isText
	}
	return texts, ok
}
