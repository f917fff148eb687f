// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// schemaInit holds the flags of the command.
type schemaInit struct {
	*app
	delimiter string
	quote     string
	encoding  string
	header    bool
	noHeader  bool
	out       string
	columns   int
	codebook  string
	types     string
	draft     schema.DraftOptions
	sample    string

	findsDelimiter bool // in the header
}

func (a *app) newSchemaInitCommand() *cobra.Command {
	i := &schemaInit{app: a}
	c := &cobra.Command{
		Use:   "init DATA",
		Short: "write a schema template from a table's header",
		Long: `Init writes a commented schema template for a table. It reads the column names
and, for Parquet and databases, the types. It reads no row. Replace each ___ by
what is known about the cells. If there is a codebook, init takes these facts
from it. For columns with well-known names it proposes bounds in comments.

A CSV file without a header begins with a person's record, so init does not open
it. Pass --no-header and the number of columns. If the header has no comma but
a semicolon, a tab or a bar, that is the delimiter.`,
		Example: `  discreet schema init patients.csv --out patients.yaml
  discreet schema init patients.csv --codebook codes.csv --role private --out patients.yaml
  discreet schema init "postgres://me@host/db?table=patients" --out patients.yaml
  discreet schema init adult.data.gz --no-header --columns 15 --out adult.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			i.findsDelimiter = !c.Flags().Changed("delimiter") && !i.noHeader
			return i.draftSchema(c.Context(), args[0])
		},
	}
	c.Flags().StringVar(&i.out, "out", "", "the `file` to write (default standard output)")
	c.Flags().BoolVar(&i.header, "header", false, "the first record names the columns, although its words look like cells")
	c.Flags().StringVar(&i.delimiter, "delimiter", ",", `the `+"`character`"+` between cells; \t for a tab`)
	c.Flags().StringVar(&i.quote, "quote", `"`, "the `character` around quoted cells; empty for none")
	c.Flags().StringVar(&i.encoding, "encoding", "", "the `name` of the encoding of a file that is not UTF-8:\n"+
		strings.Join(schema.Encodings, ", "))
	c.Flags().BoolVar(&i.noHeader, "no-header", false, "the file has no header and must not be read")
	c.Flags().IntVar(&i.columns, "columns", 0, "`how many` columns there are, the label included; with --no-header")
	c.Flags().StringVar(&i.codebook, "codebook", "", "a CSV or JSON `file` that describes columns: name, meaning,\nrole, "+
		"type, lower, upper, levels, special, buckets")
	c.Flags().StringVar(&i.types, "types", "", "a CSV `file` with the columns name and type, for example from the dtypes of\na data frame")
	c.Flags().BoolVar(&i.draft.AcceptNames, "accept-names", false, "declare what well-known names of columns of a known type "+
		"mean,\nin place of comments")
	c.Flags().StringVar(&i.sample, "public-sample", "", "a CSV `file` of rows that are PUBLIC ALREADY: bounds and "+
		"levels are read\nfrom them and written into the schema")
	c.Flags().StringVar(&i.draft.Role, "role", "", "the `role` of each column without a role in the codebook; must be private")
	cli.ReadsArguments(c)
	cli.Reads(c, "codebook", "types", "public-sample")
	cli.Writes(c, "out")
	return c
}

func (i *schemaInit) draftSchema(ctx context.Context, path string) error {
	d, err := i.readDialect()
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	var text []byte
	if i.noHeader {
		text, err = schema.InitColumns(i.columns, d)
	} else {
		text, err = i.fromHeader(ctx, path, d)
	}
	if fault, ok := errors.AsType[*dataset.FaultError](err); ok && fault.Fault == dataset.WantText { // no schema declares it yet
		fault.Fault = "must be text in UTF-8, or in the encoding that --encoding names, such as windows-1252 or utf-16"
	}
	if err != nil {
		return err
	}
	if i.out == "" {
		_, err = i.Stdout.Write(text)
		return err
	}
	return i.WriteFile(i.out, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// delimiters are tried in this order if a header has none of those before.
var delimiters = []rune{',', ';', '\t', '|'}

// readNames reads the header, and finds the delimiter in it if none was given.
func (i *schemaInit) readNames(ctx context.Context, path string, d *schema.Dialect) (names []string, err error) {
	if names, err = dataset.ReadHeader(ctx, path, *d); err != nil || len(names) != 1 || !i.findsDelimiter {
		return names, err
	}
	for _, r := range delimiters {
		with := *d
		with.Delimiter = r
		if other, err := dataset.ReadHeader(ctx, path, with); err == nil && len(other) > 1 {
			i.Say("schema init: took %q as the delimiter: the header has it, and no comma", string(r))
			*d = with
			return other, nil
		}
	}
	return names, nil
}

func (i *schemaInit) fromHeader(ctx context.Context, path string, d schema.Dialect) ([]byte, error) {
	names, err := i.readNames(ctx, path, &d)
	if err != nil {
		return nil, err
	}
	if !i.header && schema.LookLikeCells(names) {
		return nil, &dp.ParamError{Op: "schema init", Param: "header", Want: "must name the columns, and its words look like cells of a " +
			"row: is the first record the names?", Hint: "give --header if it is, or --no-header --columns N if it is a person's record"}
	}
	var book schema.Codebook
	if i.codebook != "" {
		if book, err = schema.ReadCodebook(i.codebook); err != nil {
			return nil, err
		}
	}
	if i.types != "" {
		types, err := schema.ReadTypes(i.types)
		if err != nil {
			return nil, err
		}
		book = book.AddTypes(types)
	}
	if book, err = dataset.AddTypes(ctx, book, path); err != nil {
		return nil, err
	}
	if i.sample == "" {
		return schema.Draft(names, d, book, i.draft)
	}
	if book, err = dataset.AddSample(book, i.sample, path, names, d); err != nil {
		return nil, err
	}
	text, err := schema.Draft(names, d, book, i.draft)
	return append([]byte(schema.SampleWarning), text...), err
}

// readDialect returns the text format that the flags describe.
func (i *schemaInit) readDialect() (d schema.Dialect, err error) {
	bad := func(param, want string, got any, hint string) (schema.Dialect, error) {
		return d, &dp.ParamError{Op: "schema init", Param: param, Want: want, Got: got, Hint: hint}
	}
	switch {
	case i.noHeader && i.header:
		return bad("header", "must not be given with --no-header", nil, "")
	case i.noHeader && i.columns == 0:
		return bad("columns", "must be given with --no-header", nil, "for example --columns 15, the label included")
	case i.noHeader && (i.codebook != "" || i.types != "" || i.draft != schema.DraftOptions{} || i.sample != ""):
		return bad("codebook, types, role, accept-names and public-sample", "must not be given with --no-header", nil,
			"they are about columns with names")
	case !i.noHeader && i.columns != 0:
		return bad("columns", "must not be given if a header names the columns", i.columns,
			"a file without a header needs --no-header")
	}
	if i.draft.Role != "" && i.draft.Role != string(schema.Private) {
		return bad("role", "must be private, which protects every undecided column", i.draft.Role, "")
	}
	if i.encoding != "" && !slices.Contains(schema.Encodings, i.encoding) {
		return bad("encoding", "must be one of "+strings.Join(schema.Encodings, ", ")+", or left out for UTF-8",
			strconv.Quote(i.encoding), "")
	}
	d.Encoding = i.encoding
	d.Header = true // schema.InitColumns declares none
	if i.delimiter == `\t` {
		i.delimiter = "\t"
	}
	if utf8.RuneCountInString(i.delimiter) != 1 {
		return bad("delimiter", "must be one character", fmt.Sprintf("%q", i.delimiter), "")
	}
	if utf8.RuneCountInString(i.quote) > 1 {
		return bad("quote", "must be one character, or empty for none", fmt.Sprintf("%q", i.quote), "")
	}
	d.Delimiter, _ = utf8.DecodeRuneInString(i.delimiter)
	if i.quote != "" {
		d.Quote, _ = utf8.DecodeRuneInString(i.quote)
	}
	return d, nil
}
