// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files are the names of what a run writes to the folder of its figure.
var Files = []string{recordsFile, "figure.svg", "figure.png", "verdict.json", "verdict.md"}

// writeFiles draws the figure and puts the verdict beside it.
func (r *run) writeFiles(dir string) error {
	chart := r.f.Draw(r.res.Summary)
	var svg, png, verdict bytes.Buffer
	if err := chart.WriteSVG(&svg); err != nil {
		return fmt.Errorf("experiment: %s: %w", r.f.Name, err)
	}
	if err := chart.WritePNG(&png); err != nil {
		return fmt.Errorf("experiment: %s: %w", r.f.Name, err)
	}
	enc := json.NewEncoder(&verdict)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&r.res.Verdict); err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{
		{"figure.svg", svg.Bytes()},
		{"figure.png", png.Bytes()},
		{"verdict.json", verdict.Bytes()},
		{"verdict.md", []byte(r.verdictPage())},
	} {
		path := filepath.Join(dir, file.name)
		if err := os.WriteFile(path, file.text, 0o644); err != nil {
			return err
		}
		r.res.Files = append(r.res.Files, path)
	}
	return nil
}

// verdictPage is the verdict for people.
func (r *run) verdictPage() string {
	v := &r.res.Verdict
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", r.f.Name, r.f.Title)
	fmt.Fprintf(&b, "**Verdict: %s.** %s.\n\n", v.Outcome, v.Reason)
	fmt.Fprintf(&b, "Claim. %s\n\nSource. %s\n\nProtocol. %s\n\n", v.Claim, r.f.Paper, r.f.Protocol)
	fmt.Fprintf(&b, "%d repeats, seed %d. Numbers: [records.jsonl](records.jsonl), chart: [figure.svg](figure.svg).",
		v.Repeats, v.Seed)
	if len(v.Commits) > 0 {
		fmt.Fprintf(&b, " Measured by %s.", strings.Join(v.Commits, ", "))
	}
	if v.Older {
		b.WriteString(" **Older than the code:** other code than today's measured some of them.")
	}
	b.WriteString("\n\n| | paper | here | |\n|---|---|---|---|\n")
	for _, c := range v.Checks {
		mark := string(c.Word)
		if c.Later != "" {
			mark += "; does not count: " + c.Later
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.What, c.Paper, c.Ours, mark)
	}
	b.WriteString("\nThe same checks on numbers that say nothing (null runs): ")
	for i, n := range v.Null {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s hold %.1f of %d on average, all of them in %d of %d draws", n.Name, n.Held, len(v.Checks),
			n.Reproduced, n.Draws)
	}
	b.WriteString(".\n")
	if len(v.Notes) > 0 {
		b.WriteString("\n")
		for _, n := range v.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
	}
	b.WriteString("\nNothing here is private: the data are public and the seeds known.\n")
	return b.String()
}
