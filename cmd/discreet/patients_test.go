// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// editLines is the script command "edit MOST EDITS DRAFT OUT": it edits a draft as someone does,
// by at most so many lines PLACE | BEGINS | WITH. From the column PLACE on, the first line that
// begins so becomes WITH.
func editLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: edit MOST EDITS DRAFT OUT")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	lines, edited := strings.Split(ts.ReadFile(args[2]), "\n"), 0
	for edit := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.HasPrefix(edit, "#") {
			continue
		}
		part := strings.SplitN(strings.TrimSuffix(edit, "\n"), "|", 3)
		place, begins := strings.TrimSpace(part[0]), strings.TrimSpace(part[1])
		from := 0
		if place != "" {
			from = slices.IndexFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "  - name: ") && strings.Contains(l, place)
			})
		}
		at := slices.IndexFunc(lines[max(from, 0):], func(l string) bool {
			return strings.HasPrefix(strings.TrimSpace(l), begins)
		})
		if from < 0 || at < 0 {
			ts.Fatalf("no line of %q begins with %q", place, begins)
		}
		lines[from+at] = strings.TrimPrefix(part[2], " ")
		edited++
	}
	if edited > most {
		ts.Fatalf("%d lines are edited, want at most %d", edited, most)
	}
	ts.Logf("%d lines are edited", edited)
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.Join(lines, "\n")), 0o600))
}

// askService is the script command "ask ADDRESS TABLE OUT": it asks a served model for the label of
// the first row of a table whose cells hold no quotes and are separated by semicolons.
func askService(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ask ADDRESS TABLE OUT")
	}
	rows := strings.Split(ts.ReadFile(args[1]), "\n")
	names, cells := strings.Split(rows[0], ";"), strings.Split(rows[1], ";")
	var meta struct{ Inputs []struct{ Name string } }
	ts.Check(json.Unmarshal(call(ts, args[0], nil), &meta))
	if len(meta.Inputs) == 0 {
		ts.Fatalf("the model has no inputs")
	}
	var inputs []map[string]any
	for _, in := range meta.Inputs {
		inputs = append(inputs, map[string]any{"name": in.Name, "datatype": "BYTES", "shape": []int{1},
			"data": []string{cells[slices.Index(names, in.Name)]}})
	}
	body, err := json.Marshal(map[string]any{"inputs": inputs})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(string(call(ts, args[0]+"/infer", body))), 0o600))
}

// call gets what a service answers, to a body if there is one.
func call(ts *testscript.TestScript, address string, body []byte) []byte {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, "http://"+address, bytes.NewReader(body))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	ts.Check(err)
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s %s", address, answer.Status, text)
	}
	return text
}
