// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// record is one line of records.jsonl.
type record struct {
	Figure     string   `json:"figure"`
	Data       string   `json:"data"`
	Series     string   `json:"series"`
	Epsilon    *float64 `json:"epsilon"`
	Repeat     int      `json:"repeat"`
	Seed       uint64   `json:"seed"`
	Encoding   string   `json:"encoding"`
	Parameters string   `json:"parameters"`
	Metric     string   `json:"metric"`
	Value      float64  `json:"value"`
	Bill       float64  `json:"bill"`
	Commit     string   `json:"commit"`
	Code       string   `json:"code"`
}

// readRecords reads lines of records. A last line without its end is what an
// interrupted run leaves behind: it is left out and torn is true.
func readRecords(text []byte) (out []record, torn bool, err error) {
	line := 0
	for text := range bytes.Lines(text) {
		line++
		if text[len(text)-1] != '\n' {
			return out, true, nil
		}
		var r record
		if decodeOne(text, &r) != nil || r.Figure == "" || r.Series == "" || r.Metric == "" || r.Repeat < 0 ||
			r.Epsilon != nil && !(*r.Epsilon > 0) {
			return nil, false, fmt.Errorf("%d: must be a record of a figure", line)
		}
		out = append(out, r)
	}
	return out, false, nil
}

// verdict is verdict.json.
type verdict struct {
	Figure  string   `json:"figure"`
	Claim   string   `json:"claim"`
	Outcome string   `json:"outcome"`
	Reason  string   `json:"reason"`
	Checks  []Check  `json:"checks"`
	Notes   []string `json:"notes"`
	Repeats int      `json:"repeats"`
	Seed    uint64   `json:"seed"`
	Commits []string `json:"commits"`
}

// Check is one thing the paper says beside what came out.
type Check struct {
	What  string `json:"what"`
	Paper string `json:"paper"`
	Ours  string `json:"ours"`
	Word  string `json:"word"`
	Later string `json:"later"` // why it does not count; empty if it does
}

// Verdict is the check's word for people.
func (c Check) Verdict() word { return words[c.Word] }

func isWord(s string) bool { return s == reproduced || s == differs || s == cannotTell }

func readVerdict(text []byte) (*verdict, error) {
	var v verdict
	if err := decodeOne(text, &v); err != nil {
		return nil, fmt.Errorf("must be the verdict on a figure, as experiment run writes it") // err may quote the file
	}
	switch {
	case v.Figure == "":
		return nil, fmt.Errorf("figure must be named")
	case !isWord(v.Outcome) || slices.ContainsFunc(v.Checks, func(c Check) bool { return !isWord(c.Word) }):
		return nil, fmt.Errorf("outcomes must be %s, %s or %s; experiment run writes them anew", reproduced, differs, cannotTell)
	case v.Repeats < 1 || v.Repeats > math.MaxInt32:
		return nil, fmt.Errorf("repeats must be at least 1 (got %d)", v.Repeats)
	}
	return &v, nil
}

// decodeOne reads exactly one JSON value. Fields that are not ours are left to
// programs that know them.
func decodeOne(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("there is more than one value")
	}
	return nil
}
