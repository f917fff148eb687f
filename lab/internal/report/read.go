// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Outcomes as verdict.json spells them, and a last one for a figure that has none.
const (
	reproduced = "reproduced"
	differs    = "differs"
	cannotTell = "cannot tell"
	unjudged   = ""
)

// Figure is what one folder tells about one figure of a paper.
type Figure struct {
	Name    string // paper/figure
	Folder  string // slash-separated, within what was read
	Link    string // the folder as seen from the page, slash-separated; empty: no links
	Claim   string
	Outcome string // as in verdict.json; empty if there is no verdict
	Reason  string
	Checks  []Check
	Notes   []string
	Data    []string // tables it was measured on
	Repeats int
	Seeds   []uint64
	Commits []string // of the programs that measured it, if known
	Code    []string // digests of the code that measured it; "" for records without one
	Tables  []Table  // one per metric
	Missing []string // what the folder lacks, for the reader of the page

	chart   chart
	records bool // records.jsonl is there
}

const (
	recordsFile = "records.jsonl"
	verdictFile = "verdict.json"
	chartFile   = "figure.svg"
)

// Read finds the figures below dir, by name. A folder is a figure's where it
// holds records.jsonl or verdict.json. Time and memory are linear in the files.
func Read(dir fs.FS) ([]*Figure, error) {
	var out []*Figure
	err := fs.WalkDir(dir, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if !d.IsDir() {
			return nil
		}
		f, err := readFigure(dir, at)
		if err != nil {
			return fmt.Errorf("report: %s/%w", at, err)
		}
		if f != nil {
			out = append(out, f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b *Figure) int { return strings.Compare(a.Name, b.Name) })
	for i := range out {
		if i > 0 && out[i].Name == out[i-1].Name {
			return nil, fmt.Errorf("report: %s must lie in one folder only (found %s and %s)", out[i].Name, out[i-1].Folder,
				out[i].Folder)
		}
	}
	return out, nil
}

// readFigure reads one folder; nil if it is no figure's.
func readFigure(dir fs.FS, at string) (*Figure, error) {
	f := &Figure{Folder: at}
	text, ok, err := readContents(dir, at, verdictFile)
	if err != nil {
		return nil, err
	}
	judged := ok
	if ok {
		v, err := readVerdict(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", verdictFile, err)
		}
		f.adoptVerdict(v)
	}
	text, f.records, err = readContents(dir, at, recordsFile)
	if err != nil {
		return nil, err
	}
	if !judged && !f.records {
		return nil, nil
	}
	records, torn, err := readRecords(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", recordsFile, err)
	}
	if err := f.takeRecords(records); err != nil {
		return nil, fmt.Errorf("%s: %w", recordsFile, err)
	}
	if f.Name == "" {
		return nil, fmt.Errorf("%s must hold a whole record, or %s stand beside it", recordsFile, verdictFile)
	}
	text, drawn, err := readContents(dir, at, chartFile)
	if err != nil {
		return nil, err
	}
	if drawn {
		if f.chart, err = readChart(text); err != nil {
			return nil, fmt.Errorf("%s: %w", chartFile, err)
		}
	}
	for _, lack := range []struct {
		is   bool
		text string
	}{
		{!judged, "It has not been judged: " + verdictFile + " is missing, so its run was interrupted."},
		{!drawn, "It has no chart: " + chartFile + " is missing."},
		{!f.records, "Its numbers cannot be checked: " + recordsFile + " is missing."},
		{torn, "Its last record is torn and left out: its run was interrupted."},
	} {
		if lack.is {
			f.Missing = append(f.Missing, lack.text)
		}
	}
	return f, nil
}

func readContents(dir fs.FS, at, name string) (text []byte, ok bool, err error) {
	text, err = fs.ReadFile(dir, path.Join(at, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	return text, true, nil
}

func (f *Figure) adoptVerdict(v *verdict) {
	f.Name, f.Claim, f.Outcome, f.Reason = v.Figure, v.Claim, v.Outcome, v.Reason
	f.Checks, f.Notes, f.Commits = v.Checks, v.Notes, slices.Clone(v.Commits)
	f.Repeats, f.Seeds = v.Repeats, []uint64{v.Seed}
}

// takeRecords takes in the records: those the verdict is about, or all where there
// is none.
func (f *Figure) takeRecords(records []record) error {
	judged := f.Name != ""
	var used []record
	for i := range records {
		r := &records[i]
		if f.Name == "" {
			f.Name = r.Figure
		}
		if r.Figure != f.Name {
			return fmt.Errorf("must hold records of one figure (found %s and %s)", f.Name, r.Figure)
		}
		if judged && (r.Seed != f.Seeds[0] || r.Repeat >= f.Repeats) {
			continue // of another run, with other seeds or more repeats
		}
		used = append(used, *r)
		if !judged {
			f.Seeds = appendOnce(f.Seeds, r.Seed)
			f.Repeats = max(f.Repeats, r.Repeat+1)
		}
		f.Data = appendOnce(f.Data, r.Data)
		f.Code = appendOnce(f.Code, r.Code)
		if r.Commit != "" {
			f.Commits = appendOnce(f.Commits, r.Commit)
		}
	}
	f.Tables = averageTables(used)
	return nil
}

func appendOnce[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}
