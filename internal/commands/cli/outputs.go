// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// Keys of annotations that state how a command uses the file a flag names. Every flag that names a
// file or a folder has one. The guard below reads them before every command, so that no command
// overwrites its inputs.
const (
	readsKey  = "reads"  // also of a command, for its arguments; the values are names of files in a folder
	writesKey = "writes" // the values are names of files in a folder; none if the flag names a file
	resultKey = "result" // writes; the result of a job that may be requested again
	keepsKey  = "keeps"  // the value is a table by which the kind of database is recognized, "" for a folder
	holdsKey  = "holds"  // the value is a regular expression that matches the names in the folder
	newKey    = "new"    // writes, and never replaces anything
	forceFlag = "force"
	jobFlag   = "job"
)

// CheckPage refuses the name of a page without the ending of a page; "" is accepted and names no file.
func CheckPage(op, out string) error {
	if ext := strings.ToLower(filepath.Ext(out)); out == "" || ext == ".html" || ext == ".htm" {
		return nil
	}
	return Refuse(op, "out", "must end in .html, since the page is HTML", out)
}

// Reads marks flags of c that name files or folders to read.
func Reads(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		markFlag(c, name, readsKey, nil)
	}
}

// ReadsArguments marks the arguments of c as files to read, or as folders in which only files with the
// given names are read.
func ReadsArguments(c *cobra.Command, names ...string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[readsKey] = strings.Join(names, "\n")
}

// Writes marks flags of c that name files to write, and gives c the flag --force.
func Writes(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		markFlag(c, name, writesKey, nil)
	}
	addForce(c)
}

// WritesNew marks a flag of c that names a file to create, which must not exist yet.
func WritesNew(c *cobra.Command, flag string) {
	markFlag(c, flag, writesKey, nil)
	markFlag(c, flag, newKey, nil)
}

// WritesInto marks a flag of c that names a folder, in which the command writes files with the given
// names.
func WritesInto(c *cobra.Command, flag string, names ...string) {
	markFlag(c, flag, writesKey, names)
	addForce(c)
}

// WritesResult is Writes for the result of the job that --job names, or of a command without that flag
// that goes on after it was killed. Both may be asked for their result twice, so they decide themselves
// what paid model the file may replace.
func WritesResult(c *cobra.Command, flag string) {
	Writes(c, flag)
	markFlag(c, flag, resultKey, nil)
}

// Keeps marks a flag of c that names a database to read and write, which has the given table.
func Keeps(c *cobra.Command, flag, table string) { markFlag(c, flag, keepsKey, []string{table}) }

// KeepsFolder marks a flag of c that names a folder which belongs to the program: every name in it
// must match the regular expression.
func KeepsFolder(c *cobra.Command, flag, names string) {
	markFlag(c, flag, keepsKey, []string{""})
	markFlag(c, flag, holdsKey, []string{names})
}

func markFlag(c *cobra.Command, name, key string, values []string) {
	f := c.Flags().Lookup(name)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = append([]string{}, values...)
}

func addForce(c *cobra.Command) {
	if c.Flags().Lookup(forceFlag) == nil {
		c.Flags().Bool(forceFlag, false,
			"replace a file even if it is a schema, a key or a model that was paid for; never an input or a database")
	}
}

// FileUse is how a command uses the file of a flag.
type FileUse struct{ Reads, Writes, Keeps bool }

// UseOf returns how the file of a flag is used.
func UseOf(f *pflag.Flag) FileUse {
	has := func(key string) bool { return f.Annotations[key] != nil }
	return FileUse{Reads: has(readsKey), Writes: has(writesKey), Keeps: has(keepsKey)}
}

// input is a file that a command reads or keeps.
type input struct {
	path     string
	database bool     // is a database, or becomes one when the command runs
	only     []string // of a folder, the names of files in it that are read; empty for all
}

// guard holds the inputs of a command, which an output must not replace.
type guard struct {
	op     string
	inputs []input
	force  bool
}

// guardOutputs refuses outputs of c that are inputs of c, and outputs that replace files of value.
func (a *App) guardOutputs(c *cobra.Command, args []string) error {
	g := &guard{op: c.Name()}
	if f := c.Flags().Lookup(forceFlag); f != nil {
		g.force = f.Value.String() == "true"
	}
	if only, ok := c.Annotations[readsKey]; ok {
		for _, arg := range args {
			g.inputs = append(g.inputs, input{path: arg, only: strings.Fields(only)})
		}
	}
	var failed error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		use := UseOf(f)
		if !use.Reads && !use.Keeps {
			return
		}
		for _, path := range filesOf(f) {
			in := input{path: path, database: use.Keeps && f.Annotations[keepsKey][0] != ""}
			if rest, ok := strings.CutPrefix(path, "sqlite:"); ok { // a table of a database
				rest, _, _ = strings.Cut(rest, "?")
				in = input{path: rest, database: true}
			}
			if strings.Contains(in.path, "://") || in.path == "-" {
				continue // not on this machine
			}
			if names := f.Annotations[holdsKey]; names != nil && failed == nil {
				failed = checkFolder(g.op, f.Name, in.path, names[0])
			} else if use.Keeps && failed == nil {
				failed = checkDatabase(g.op, f.Name, in.path, f.Annotations[keepsKey][0])
			}
			g.inputs = append(g.inputs, in)
		}
	})
	if failed != nil {
		return failed
	}
	var outputs []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !UseOf(f).Writes {
			return
		}
		later := f.Annotations[resultKey] != nil && (c.Flags().Lookup(jobFlag) == nil || c.Flags().Changed(jobFlag))
		for _, path := range filesOf(f) {
			if path == "-" {
				continue
			}
			for _, out := range filesIn(path, f.Annotations[writesKey]) {
				for _, other := range outputs {
					if failed == nil && samePath(out, other) {
						failed = Refuse(g.op, f.Name, "must be another file than the command's other outputs", out)
					}
				}
				outputs = append(outputs, out)
				if failed == nil && f.Annotations[newKey] == nil {
					failed = g.check(f.Name, out, later)
				}
			}
		}
	})
	a.outputs = g
	return failed
}

// filesOf returns the paths that a flag names.
func filesOf(f *pflag.Flag) (paths []string) {
	paths = []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		paths = list.GetSlice()
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == "" })
}

// filesIn returns the files with these names in a folder, or the path itself if no names are given.
func filesIn(path string, names []string) (files []string) {
	if len(names) == 0 {
		return []string{path}
	}
	for _, name := range names {
		files = append(files, filepath.Join(path, name))
	}
	return files
}

// check refuses an output. It accepts a paid model if the job checks it later.
func (g *guard) check(flag, out string, later bool) error {
	for _, in := range g.inputs {
		names := []string{in.path}
		if in.database {
			names = append(names, atomicfile.BesideDatabase(in.path)...)
		}
		for _, name := range names {
			if samePath(out, name) {
				return Refuse(g.op, flag, "must not be a file that is read or kept, since it would be replaced", out)
			}
		}
		if info, err := os.Stat(in.path); err == nil && info.IsDir() && liesIn(out, in) {
			return Refuse(g.op, flag, "must not lie in a folder that is read or kept", out)
		}
	}
	switch kind := atomicfile.KindOf(out); {
	case atomicfile.IsOfDatabase(out):
		return Refuse(g.op, flag, "must not be "+string(atomicfile.Database)+", nor belong to one", out)
	case kind == atomicfile.Plain, kind == atomicfile.PaidModel && later:
	case !g.force:
		return Refuse(g.op, flag, "must be another file, or be given with --force: this one is "+string(kind), out)
	}
	return nil
}

// samePath reports whether two names denote the same file, which need not exist.
func samePath(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		if y, err := os.Stat(b); err == nil {
			return os.SameFile(x, y)
		}
	}
	// A file system may hold names to be the same that differ in case.
	return strings.EqualFold(resolve(a), resolve(b))
}

// liesIn reports whether a path is below a folder, and is one of its known files if it has a list.
func liesIn(path string, in input) bool {
	path = strings.ToLower(resolve(path))
	if len(in.only) > 0 && !slices.Contains(in.only, filepath.Base(path)) {
		return false
	}
	below := strings.TrimSuffix(strings.ToLower(resolve(in.path)), string(filepath.Separator)) + string(filepath.Separator)
	return strings.HasPrefix(path, below)
}

// resolve returns the path without links, as far as it exists.
func resolve(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return filepath.Join(real, rest)
		}
		dir := filepath.Dir(abs)
		if dir == abs {
			return filepath.Join(abs, rest)
		}
		abs, rest = dir, filepath.Join(filepath.Base(abs), rest)
	}
}

// Tables by which the databases of this program are recognized, for Keeps.
const (
	LedgerTable     = "discreet_head"
	AggregatorTable = "discreet_tasks"
	HelperTable     = "discreet_helper"
	BookTable       = "discreet_book"
)

// systemNames matches names that a folder of ours may also contain: hidden ones, and those that file
// systems create.
const systemNames = `\..*|lost\+found`

// checkFolder refuses a folder of the program that contains anything else.
func checkFolder(op, flag, path, names string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil // using it says why, unless it is yet to be made
	}
	own := regexp.MustCompile("^(?:" + names + "|" + systemNames + ")$")
	for _, e := range entries {
		if !own.MatchString(e.Name()) {
			return Refuse(op, flag, "must be a folder that holds nothing but what this command keeps there, or not exist",
				filepath.Join(path, e.Name()))
		}
	}
	return nil
}

// maxHead is the number of bytes of a database that are searched for table names. Tables are created
// first, so their names are near the beginning.
const maxHead = 1 << 20

// checkDatabase refuses a database of another program, or of another kind. A database without
// tables is accepted: a process that was killed, or one that is creating it now, leaves such a file.
// A log next to the file may hold tables that the file does not have yet. The log is looked for
// first, because it is deleted once the file holds them.
func checkDatabase(op, flag, path, table string) error {
	if atomicfile.KindOf(path) != atomicfile.Database {
		return nil
	}
	_, noLog := os.Stat(path + "-wal")
	f, err := openfile.Regular(path)
	if err != nil {
		return nil // opening it says why
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	holds := func(what string) bool { return bytes.Contains(head, []byte("CREATE "+what)) }
	if err != nil || holds("TABLE "+table) {
		return nil
	}
	foreign := noLog != nil && holds("")
	for _, other := range []string{LedgerTable, AggregatorTable, HelperTable, BookTable} {
		foreign = foreign || holds("TABLE "+other)
	}
	if foreign {
		return Refuse(op, flag, fmt.Sprintf("must be a database with the table %s, or not exist", table), path)
	}
	return nil
}

// WriteFile lets f write the file at path atomically, readable by the user alone. It does not replace
// an input of the command, even if names have changed since the command began.
func (a *App) WriteFile(path string, f func(io.Writer) error) error {
	return a.writeFile(path, atomicfile.Private, f)
}

// WritePublicFile is WriteFile for output that depends on no row; its permissions follow the umask.
func (a *App) WritePublicFile(path string, f func(io.Writer) error) error {
	return a.writeFile(path, atomicfile.Public, f)
}

func (a *App) writeFile(path string, mode os.FileMode, f func(io.Writer) error) error {
	if err := a.outputs.check("output", path, false); err != nil {
		return err
	}
	return atomicfile.Write(path, mode, f)
}

// Force reports whether --force was given.
func (a *App) Force() bool { return a.outputs.force }
