// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Machine describes the machine of a session or of executors; "" means missing.
type Machine struct {
	System  string `json:"system"`
	Python  string `json:"python"`
	Pyarrow string `json:"pyarrow"`
	Pandas  string `json:"pandas"`
	Fault   string `json:"fault"` // why the worker cannot run there
}

// The tested versions, and the versions of other programs that they require according to their manual.
const (
	leastSpark   = "4"
	leastJava    = "17"
	leastPython  = "3.9"
	leastPyarrow = "11"
	leastPandas  = "2"
)

// examiner records the results of checks.
type examiner struct {
	note    func(what, found, want string)
	missing bool
}

func (e *examiner) noteThing(what, found string, there bool, want string) {
	if there {
		want = ""
	}
	e.missing = e.missing || !there
	e.note(what, found, want)
}

// noteVersion records a component that must have version least or later.
func (e *examiner) noteVersion(what, version, least, where string) {
	e.noteThing(what, version, isVersionFrom(version, least), fmt.Sprintf("version %s or later, %s", least, where))
}

// Examine checks what a session needs on this machine and, if nothing is missing, starts a session and
// checks its executors. It calls note for each requirement with what is missing, "" if nothing is. It
// reads no table.
func Examine(ctx context.Context, o Options, note func(what, found, want string)) {
	e := &examiner{note: note}
	e.findFolder()
	e.findJava(ctx)
	e.findSubmit(o.Submit)
	e.findPython(ctx)
	if !e.missing {
		e.findExecutors(ctx, o)
	}
}

// findFolder checks the folder for the session's files, which include a socket.
func (e *examiner) findFolder() {
	folder, err := os.MkdirTemp("", "discreet-spark-*")
	if err == nil {
		defer os.RemoveAll(folder)
		var listener net.Listener
		if listener, err = net.Listen("unix", filepath.Join(folder, "link")); err == nil {
			listener.Close()
		}
	}
	e.noteThing("folder for temporary files", os.TempDir(), err == nil,
		"one that can be written to, whose path is not long: set TMPDIR")
}

var quotedVersion = regexp.MustCompile(`version "([0-9][0-9._]*)`)

func (e *examiner) findJava(ctx context.Context) {
	program := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		program = filepath.Join(home, "bin", "java")
	}
	said, _ := exec.CommandContext(ctx, program, "-version").CombinedOutput()
	version := ""
	if m := quotedVersion.FindSubmatch(said); m != nil {
		version = string(m[1])
	}
	e.noteVersion("Java", version, leastJava, "on the path or in JAVA_HOME")
}

func (e *examiner) findSubmit(command string) {
	name := "spark-submit"
	if words := strings.Fields(command); len(words) > 0 {
		name = words[0]
	}
	path, err := exec.LookPath(name)
	e.noteThing("spark-submit", path, err == nil,
		"the program of Apache Spark 4, or of the Python package pyspark, on the path or named")
}

// findPython finds the Python for the session, by the variables that Spark reads.
func (e *examiner) findPython(ctx context.Context) {
	program := cmp.Or(os.Getenv("PYSPARK_DRIVER_PYTHON"), os.Getenv("PYSPARK_PYTHON"), "python3")
	said, err := exec.CommandContext(ctx, program, "-c", "import platform; print(platform.python_version())").Output()
	if err != nil {
		said = nil
	}
	e.noteVersion("Python", strings.TrimSpace(string(said)), leastPython,
		"on the path or in PYSPARK_DRIVER_PYTHON or PYSPARK_PYTHON")
}

// findExecutors starts a session and queries its executors.
func (e *examiner) findExecutors(ctx context.Context, o Options) {
	h, err := examine(ctx, o)
	if err != nil {
		e.noteThing("session", "", false, "one that starts: "+err.Error())
		return
	}
	e.noteVersion("Spark", h.Spark, leastSpark, "whose spark-submit is on the path or named")
	for k, m := range h.Machines {
		whose := "all machines'" // the session's and executors'
		if len(h.Machines) > 1 {
			whose = fmt.Sprintf("some machines' (%d of %d kinds)", k+1, len(h.Machines))
		}
		e.noteVersion(whose+" Python", m.Python, leastPython, "named by PYSPARK_PYTHON on every machine")
		e.noteVersion(whose+" pyarrow", m.Pyarrow, leastPyarrow, "in that Python")
		e.noteVersion(whose+" pandas", m.Pandas, leastPandas, "in that Python")
		e.noteThing(whose+" worker", m.System, m.Fault == "", "a machine that runs this program: "+m.Fault)
	}
}

// isVersionFrom reports whether a version is least or a later one.
func isVersionFrom(version, least string) bool {
	have, want := strings.Split(version, "."), strings.Split(least, ".")
	for i, text := range want {
		n, _ := strconv.Atoi(text)
		got := -1
		if i < len(have) {
			if k, err := strconv.Atoi(have[i]); err == nil {
				got = k
			}
		}
		if got != n {
			return got > n
		}
	}
	return true
}

func examine(ctx context.Context, o Options) (h header, err error) {
	sn, cfg, err := begin(ctx, &o)
	if err != nil {
		return h, err
	}
	defer func() {
		sn.failed = err != nil
		sn.Close()
	}()
	if err = send(sn.link, header{Op: "examine", Config: cfg}); err == nil {
		h, _, err = receive(sn.r)
	}
	switch {
	case err != nil:
		err = sn.lost(ctx)
	case h.Op == "failed":
		err = sn.refused(h.Error)
	case h.Op != "examined" || len(h.Machines) == 0:
		err = sn.refused("the session named no executor")
	}
	return h, err
}
