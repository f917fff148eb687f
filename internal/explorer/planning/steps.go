// SPDX-License-Identifier: Apache-2.0

package planning

import "github.com/discreet-dp/discreet/internal/ground/dp"

// stepWords name steps by what the page has. The others are told in plain words.
var stepWords = map[dp.StepKind]string{
	dp.ChooseEpsilon:  "choose one, for example {why}: the plan shows what it buys",
	dp.DraftSchema:    "a table's header gives a draft of one",
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
