// SPDX-License-Identifier: Apache-2.0

package main

// discreet-lab runs these tests, too: its folder has a link to this file.

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// with is a command line in which some flags are replaced or added.
func with(line, flags string) string {
	words, change := strings.Fields(line), strings.Fields(flags)
	for ; len(change) > 0; change = change[2:] {
		if at := slices.Index(words, change[0]); at >= 0 {
			words[at+1] = change[1]
		} else {
			words = append(words, change[0], change[1])
		}
	}
	return strings.Join(words, " ")
}

// namedFiles are the flags and arguments of a tree that name a file or a folder, by command.
func namedFiles(root *cobra.Command) map[string]bool {
	file := regexp.MustCompile(`(?m)^ +(?:-\w, +)?--(\S+) (?:file|files|folder|directory) `)
	argument := regexp.MustCompile(`^(FILE|DATA)$`)
	named := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		name := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		for _, m := range file.FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
			named[name+" --"+m[1]] = true
		}
		for _, word := range strings.Fields(c.Use)[1:] {
			if argument.MatchString(word) {
				named[name+" "+word] = true
			}
		}
	}
	walk(root)
	return named
}

// mistaken are files that are not what they should be: tables, for the most part,
// as they are given by mistake. What would be a cell begins with CANARY or is the
// number 7700131.
var mistaken = []string{
	"name: \"\\e[2J\"\n\x1b]0;x\x07\r: \u202e\u009b\x9b,\x7f\b\n",
	"7700131,CANARY-female,border,CANARY village,native\n31,CANARY-male,inner,town,7700131\n",
	"CANARYa,CANARYb,CANARYc\nCANARYd,CANARYe,CANARYf\n",
	"CANARYa,CANARYa\nCANARYa,CANARYb\n",
	"id,ward,note\n7700131,CANARY-ward,\"CANARY, said she\"\n7700131,CANARY\n",
	"CANARY-a;CANARY: b;7700131\nCANARY-c;CANARY: d;7700131\n",
	"CANARY-a: CANARY-b\nCANARY-c: 7700131\n",
	"CANARY: a\nCANARY: b\n",
	"\tCANARY\t7700131\n\tCANARY\t7700131\n",
	"CANARY\n7700131\nCANARY two\n# CANARY\nCANARY three words\n",
	`{"CANARY-k":"CANARY-v","n":7700131}` + "\n" + `{"CANARY-k":"CANARY-w","n":7700131}` + "\n",
	`[{"name":"CANARY","unit":"CANARY","relation":"CANARY","epsilon":7700131}]`,
	`{"name":"CANARY","unit":"CANARY","relation":"CANARY","columns":"CANARY","file":"CANARY","max_epsilon":"CANARY"}`,
	`{"columns":["CANARY-a","CANARY-b"],"index":["CANARY"],"data":[["CANARY",7700131]]}`,
	"name: CANARY\nunit: CANARY ward\nrelation: CANARY\ncolumns: CANARY\n",
	"name: CANARY\nfile: CANARY\ncolumns:\n  - CANARY\n" +
		"  - {name: CANARY, role: CANARY, number: {lower: CANARY, upper: 7700131}}\n",
	"@relation CANARY\n@attribute CANARY {CANARY}\n@data\nCANARY,7700131\n",
	"\"CANARY\n", "'CANARY\n", "[CANARY\n", "{CANARY\n", "[CANARY, {CANARY: ]\n", "*CANARY\n",
	"&CANARY x\n", "!CANARY x\n", "%CANARY\n", "%YAML CANARY\n---\nCANARY\n", "? CANARY\n: CANARY\n",
	"<<: CANARY\n", "- CANARY\nCANARY: x\n", "a: |\nCANARY\n", "CANARY: [a\n",
	"CANARY: \"a\\CANARY\"\n",
	"brc:CANARY=1\n", "CANARY:rounds=1\n", "brc:rounds=CANARY\n", "brc:rounds=7700131\n", "logistic:CANARY\nbrc\n",
	"-----BEGIN CANARY-----\nQ0FOQVJZ\n-----END CANARY-----\n",
	"-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\n",
	"-----BEGIN CERTIFICATE-----\nQ0FOQVJZ\n-----END CERTIFICATE-----\n",
	strings.Repeat("ab", 32) + " CANARY\n" + strings.Repeat("ab", 32) + " CANARY\n",
	strings.Repeat("ab", 32) + "\n" + strings.Repeat("cd", 31) + "CANARY\n",
	"https://127.0.0.1:1 " + strings.Repeat("ab", 32) + " CANARY/\n", "https://CANARY\n",
	"{\n  \"discreet_model\": 1,\n  \"bytes\": 7700131\n}\n", "{\n  \"discreet_model\": CANARY",
	"discreet votes CANARY\nCANARY\n", "label\nCANARY\n", "no,yes\nCANARY,7700131\n",
	"CANARY\x00\xff\xfeCANARY", "\xff\xfeC\x00A\x00N\x00A\x00R\x00Y\x00",
	"PAR1CANARYCANARYCANARY\x10\x00\x00\x00PAR1", "SQLite format 3\x00CANARYCANARY",
	"",
}

var canaries = regexp.MustCompile(`(?i)canary|Q0FOQVJZ|7700131`)

var roles = []string{"aggregator", "combiner", "helper", "operator", "owner", "party", "reader"}

// tell runs the program in this process and returns all that it says.
func tell(t testing.TB, line []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a server that starts
	defer cancel()
	said := make(chan string, 1)
	go func() {
		var out bytes.Buffer
		cli.Run(ctx, programOf(line[0]), line, []string{"PATH=" + os.Getenv("PATH")}, strings.NewReader(""), &out, &out)
		said <- out.String()
	}()
	select {
	case out := <-said:
		return out
	case <-time.After(2 * time.Minute): // of one that waits for a pipe
		t.Fatalf("%q does not end", line)
		return ""
	}
}

// forms are what a text is given as: as such, packed, with the suffix of a Parquet
// file, and as every file of a folder.
var forms = []string{"given.txt", "given.gz", "given.parquet", "folder"}

// give writes a text in a form.
func give(t testing.TB, name, text string) {
	t.Helper()
	names := []string{name}
	if name == "folder" {
		names = nil
		for _, n := range []string{"authority.crt", "authority.key", "crl.pem", "votes"} {
			names = append(names, filepath.Join(name, n))
		}
		for _, role := range roles {
			names = append(names, filepath.Join(name, role+"-x.crt"), filepath.Join(name, role+"-x.key"))
		}
		os.RemoveAll(name)
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if filepath.Ext(name) == ".gz" {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		text = packed.String()
	}
	for _, n := range names {
		if err := os.WriteFile(n, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// swap runs a line of reading with text in place of its file.
func swap(t testing.TB, what, text string, forms ...string) {
	t.Helper()
	for _, name := range forms {
		give(t, name, text)
	}
	for _, name := range forms {
		line := strings.Fields(reading[what])
		fill := strings.NewReplacer("FILE", name, "SERVER", server, "NOWHERE", "127.0.0.1:-1", "TASK",
			strings.Repeat("0", 64), "_", " ")
		for i := range line {
			line[i] = fill.Replace(line[i])
		}
		said := tell(t, line)
		if strings.Contains(said, "required flag") || strings.Contains(said, "unknown flag") {
			t.Fatalf("%s: reads no file: %s", what, said)
		}
		if what == "schema init DATA" && strings.HasPrefix(said, "# A schema") {
			continue // words in the first line are taken for names: that is what it is for
		}
		if strings.ContainsFunc(said, func(c rune) bool { return c != '\n' && c != '\t' && !unicode.IsGraphic(c) }) {
			t.Errorf("%s given %q (%s): prints control characters in %q", what, text, name, said)
		}
		if canaries.MatchString(said) {
			t.Errorf("%s given %q (%s): says\n%s", what, text, name, said)
		}
	}
}

// No message quotes a file that was given in place of another.
func TestSwappedFilesAreNotQuoted(t *testing.T) {
	scene(t)
	whats := slices.Sorted(maps.Keys(reading))
	for at, what := range whats {
		if reading[what] == "" {
			continue
		}
		for i, text := range mistaken {
			if i%size.Of(8, 1) != at%size.Of(8, 1) { // each in turn
				continue
			}
			if i == 0 && size.Long() {
				swap(t, what, text, forms...)
			} else {
				swap(t, what, text, "given.txt")
			}
		}
	}
}

// planted are what protected cells hold in the test of streams: texts that are no level, and
// numbers of eight digits within the bounds and beyond them.
var planted = regexp.MustCompile(`(?i)canary|Q0FOQVJZ|47\.1108|7700131|2047.11.17|17.11.2047`)

// showsCanary finds what protected cells hold, the number as a floating-point number of a file, too.
func showsCanary(text string) bool {
	for _, x := range []uint64{math.Float64bits(47.110815), math.Float64bits(7700131)} {
		if strings.Contains(text, string(binary.LittleEndian.AppendUint64(nil, x))) ||
			strings.Contains(text, string(binary.BigEndian.AppendUint64(nil, x))) {
			return true
		}
	}
	return planted.MatchString(text)
}

// plantCanaries makes every private cell of census.csv one that can be found again.
func plantCanaries(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := census.Schema()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		for j, c := range s.Columns {
			switch {
			case c.Role != schema.Private:
			case c.Kind == schema.Number:
				cells[j] = []string{"47.110815", "7700131", "CANARY-n", cells[j]}[(i+j)%4]
			case (i+j)%3 > 0:
				cells[j] = []string{"CANARY", "CANARY two words"}[(i+j)%2]
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// visits is a schema of every kind of column that census has none of: persons, dates, buckets, levels
// beside them, columns that are derived, and a private label.
const visits = `name: visits
unit: one visit
relation: replace-one
person: {column: who, rows: 2}
file: {delimiter: ",", quote: '"', header: true}
pairs: [[usual, city]]
columns:
  - {name: who, role: ignored}
  - {name: day, role: private, date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2049-12-31, default: 2020-01-01}}
  - {name: street, role: private, category: {buckets: 7}}
  - {name: city, role: private, category: {levels: [Rome, Paris], buckets: 3, missing: true}}
  - {name: may, role: private, number: {lower: 0, upper: 50, default: 5}}
  - {name: june, role: private, number: {lower: 0, upper: 50, default: 5}}
  - {name: ward, role: public, category: {levels: [a, b]}}
  - {name: again, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
derived:
  - {name: month, month: [day]}
  - {name: weekday, weekday: [day]}
  - {name: usual, mean: [may, june], bins: quantiles}
`

// plantVisits writes visits.csv, and its schemas for learners of persons and of rows.
func plantVisits(t *testing.T, rows int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("who,day,street,city,may,june,ward,again\n")
	pick := func(i int, from ...string) string { return from[i%len(from)] }
	for i := range rows {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s,%s\n", pick(i/3, "CANARY-one", "7700131", "CANARY "+strconv.Itoa(i/3)),
			pick(i, "17.11.2047", "CANARY", "05.03.2021", "17.11.2047 CANARY"), pick(i/2, "CANARY Road", "7700131", "canary"),
			pick(i, "Rome", "", "CANARY", "Paris", "CANARY-b"), pick(i, "47.110815", "CANARY", "7", "7700131"),
			pick(i/5, "3", "47.110815", "7700131"), pick(i/2, "a", "b"), pick(i/3, "no", "yes", "CANARY", "yes"))
	}
	for name, text := range map[string]string{"visits.csv": b.String(), "visits.yaml": visits,
		"single.yaml": strings.Replace(visits, "person: {column: who, rows: 2}\n", "", 1)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// streamed is what one run leaves beside its exit code: all that it says by any way, and the files.
type streamed struct {
	code int
	said string
}

// runAlone runs the program in a process of its own, so that whatever is printed by whatever means
// is seen. It is the test's own program.
func runAlone(t *testing.T, line []string) streamed {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, line...)
	cmd.Args[0] = "discreet-net" // by which what a demo starts knows what it is
	cmd.Env = append(os.Environ(), canaryProcess+"=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return streamed{cmd.ProcessState.ExitCode(), said.String()}
}

// canaryProcess marks a process that is a command, all of whose logs speak.
const canaryProcess = "DISCREET_TEST_CANARY"

func letLogsSpeak() {
	log.SetOutput(os.Stderr)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug - 100})))
}

// listFiles are the files below a folder, and what they hold.
func listFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
