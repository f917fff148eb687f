// SPDX-License-Identifier: Apache-2.0

package planning

import (
	"errors"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// stepWords name steps by what the page has. The others are told in plain words.
var stepWords = map[dp.StepKind]string{
	dp.ChooseEpsilon:  "choose one, for example {why}: the plan shows what it buys",
	dp.DraftSchema:    "choose a table, and its line of names gives a draft of one",
	dp.NameColumns:    "if the first line is somebody's row, tick “The first line is a row, not names”",
	dp.CreateLedger:   "whoever started this page creates it",
	dp.DeclareDataset: "whoever started this page declares it",
}

// paramWords name parameters that no control of the page gives.
var paramWords = map[string]string{"held-out": "whoever started this page names the data set of held-out rows then"}

// StepWords returns the page's words for a step.
func StepWords(s dp.Step) string {
	if words := paramWords[s.Name]; s.Kind == dp.GiveParam && words != "" {
		return words
	}
	if words := stepWords[s.Kind]; words != "" {
		return s.Fill(words)
	}
	return s.String()
}

// labels are parameters by the names that the page shows.
var labels = map[string]string{"epsilon": "ε", "delta": "δ", "rows": "the number of rows", "positives": "the share of positive rows",
	"strength": "the AUC without privacy", "header": "the line of names", "columns": "the columns", "learner": "the learner",
	"max_epsilon": "largest ε", "max_delta": "largest δ"}

// operation is what errors begin with: the operation that refuses, for readers of a command.
var operation = regexp.MustCompile(`^[a-z]+( [a-z]+)*: `)

// named finds parameters in a sentence.
var named = regexp.MustCompile(`\b(epsilon|delta|max_epsilon|max_delta)\b`)

// Words returns the text of an error as the page says it: without the operation, and with parameters by
// their labels.
func Words(err error) string {
	var all []string
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			all = append(all, Words(one))
		}
		return strings.Join(all, "\n")
	}
	text := operation.ReplaceAllString(dp.Reword(err, StepWords), "")
	if refused, ok := errors.AsType[*dp.ParamError](err); ok && labels[refused.Param] != "" {
		if rest, first := strings.CutPrefix(text, refused.Param+" "); first {
			return sayPage(labels[refused.Param] + " " + rest)
		}
	}
	return sayPage(text)
}

// word is a first word in small letters; a file's name has a dot.
var word = regexp.MustCompile(`^[a-z]+ `)

// sayPage replaces parameters in a sentence by their labels, and begins it with a capital.
func sayPage(text string) string {
	text = named.ReplaceAllStringFunc(text, func(name string) string { return labels[name] })
	if word.MatchString(text) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}
