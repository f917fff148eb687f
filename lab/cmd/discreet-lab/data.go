// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/lab/internal/datasets"
	"github.com/discreet-dp/discreet/lab/internal/experiment"
)

// dataFlags holds the flags of the command.
type dataFlags struct {
	*app
	folder string
	out    string
	json   bool
}

// dataReport is what data prints for programs.
type dataReport struct {
	Sets    []datasets.Set            `json:"sets"`
	Wrote   []string                  `json:"wrote,omitempty"`
	Files   map[string]datasets.State `json:"files,omitempty"`   // by name
	Missing map[string][]string       `json:"missing,omitempty"` // files, by figure
}

func (a *app) newDataCommand() *cobra.Command {
	d := &dataFlags{app: a}
	c := &cobra.Command{
		Use:   "data",
		Short: "list, check and prepare the data sets of the figures",
		Long: `Data lists the data sets that the papers' figures read: source, licence, and each
file with its size and SHA-256, both of the uncompressed content.

With --folder it checks a folder of data sets, and prints for each figure what is
missing. With --out it first puts what --folder holds, under whatever names, into
its places below the folder --out: copies, which it knows by their checksums, and
the files that are made of others. Then it checks --out. Figures read the folder
that DISCREET_DATASETS names.`,
		Example: `  discreet-lab data
  discreet-lab data --folder downloads --out datasets
  DISCREET_DATASETS=datasets discreet-lab experiment run shen/fig2a --out figures`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return d.runData() },
	}
	c.Flags().StringVar(&d.folder, "folder", "", "the `folder` to check")
	c.Flags().StringVar(&d.out, "out", "", "the `folder` to put prepared files into")
	c.Flags().BoolVar(&d.json, "json", false, "print one JSON object")
	var names []string
	for _, s := range datasets.All {
		for _, f := range s.Files {
			names = append(names, filepath.FromSlash(f.Name))
		}
	}
	cli.Reads(c, "folder")
	cli.WritesInto(c, "out", names...)
	return c
}

func (d *dataFlags) runData() (err error) {
	if d.out != "" && d.folder == "" {
		return cli.Refuse("data", "folder", "must be given with --out", nil)
	}
	r := dataReport{Sets: datasets.All}
	folder := d.folder
	if d.out != "" {
		folder = d.out
		if r.Wrote, err = datasets.Prepare(d.folder, d.out); err != nil {
			return err
		}
		for _, name := range r.Wrote {
			d.Say("wrote %s", filepath.Join(d.out, filepath.FromSlash(name)))
		}
	}
	if folder != "" {
		if err := r.check(folder); err != nil {
			return err
		}
	}
	if d.json {
		return cli.WriteJSON(d.Stdout, r)
	}
	return r.write(d.Stdout)
}

func (r *dataReport) check(folder string) (err error) {
	r.Files, r.Missing = map[string]datasets.State{}, map[string][]string{}
	for _, s := range r.Sets {
		for _, f := range s.Files {
			if r.Files[f.Name], err = datasets.Check(folder, f); err != nil {
				return err
			}
		}
	}
	for _, f := range experiment.All() {
		files, _ := datasets.Needs(f.Data)
		r.Missing[f.Name] = []string{}
		for _, file := range files {
			if state := r.Files[file.Name]; state == datasets.Missing || state == datasets.Wrong {
				r.Missing[f.Name] = append(r.Missing[f.Name], fmt.Sprintf("%s (%s)", file.Name, state))
			}
		}
	}
	return nil
}

func (r *dataReport) write(out io.Writer) error {
	var b strings.Builder
	for _, s := range r.Sets {
		plaintext.Fprintf(&b, "%s\n    source: %s\n    licence: %s\n", s.Name, s.Source, s.Licence)
		if s.Made != "" {
			plaintext.Fprintf(&b, "    made by --out: %s\n", s.Made)
		}
		for _, f := range s.Files {
			plaintext.Fprintf(&b, "    %s", f.Name)
			if f.SHA256 != "" {
				plaintext.Fprintf(&b, "  %d bytes  %s", f.Bytes, f.SHA256)
			}
			if r.Files != nil {
				plaintext.Fprintf(&b, "  %s", string(r.Files[f.Name]))
			}
			b.WriteString("\n")
		}
	}
	if r.Files != nil {
		for _, f := range experiment.All() {
			if missing := r.Missing[f.Name]; len(missing) > 0 {
				plaintext.Fprintf(&b, "%s: not ready: %s\n", f.Name, strings.Join(missing, ", "))
			} else {
				plaintext.Fprintf(&b, "%s: ready\n", f.Name)
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
