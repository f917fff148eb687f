// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// A crash here is the machine's: what no call has flushed may be lost, in any
// combination. SQLite has no seam for that in Go (modernc.org/sqlite's own vfs
// package only reads), so the disk is told again from the system calls of a
// real training, and cut off after every one of them (Pillai et al., "All file
// systems are not created equal", OSDI 2014).

// op is one call that changes the disk, or a mark.
type op struct {
	call string
	path string
	to   string // of a rename
	data []byte // of a write
	at   int64  // where a write goes, or the length left by a truncation
	made *inode // by a create
}

// inode is a file: what is on the disk for sure, and what came after.
type inode struct {
	synced  []byte
	pending []op
}

// with is the content if some of what is pending has reached the disk: each
// sector of a write for itself.
func (n *inode) with(kept func() bool) []byte {
	b := slices.Clone(n.synced)
	for _, o := range n.pending {
		if o.call == "ftruncate" {
			if kept() {
				b = append(b[:min(int(o.at), len(b))], make([]byte, max(0, int(o.at)-len(b)))...)
			}
			continue
		}
		const sector = 512
		for from := 0; from < len(o.data); {
			until := min(from+sector-int(o.at+int64(from))%sector, len(o.data))
			if kept() {
				end := int(o.at) + until
				b = append(b, make([]byte, max(0, end-len(b)))...)
				copy(b[int(o.at)+from:end], o.data[from:until])
			}
			from = until
		}
	}
	return b
}

// volume is some folders: names as they are, and as they are on the disk for
// sure. A rename stays in its folder.
type volume struct {
	names, synced map[string]*inode
	pending       map[string][]op // by folder, in order
}

// link applies a change of names. What a create made is found by its own record:
// meanwhile its name may mean another file.
func (v *volume) link(names map[string]*inode, o op) {
	switch o.call {
	case "create":
		names[o.path] = o.made
	case "unlink":
		delete(names, o.path)
	case "rename":
		if n, ok := names[o.path]; ok {
			delete(names, o.path)
			names[o.to] = n
		}
	}
}

// do applies one call. Files that the test does not follow are left out.
func (v *volume) do(o op) {
	n, folder := v.names[o.path], filepath.Dir(o.path)
	switch {
	case o.call == "create" && n == nil:
		o.made = &inode{}
		v.link(v.names, o)
		v.pending[folder] = append(v.pending[folder], o)
	case o.call == "sync" && n == nil: // a folder
		for _, done := range v.pending[o.path] {
			v.link(v.synced, done)
		}
		delete(v.pending, o.path)
	case n == nil:
	case o.call == "write" || o.call == "ftruncate":
		n.pending = append(n.pending, o)
	case o.call == "sync":
		n.synced, n.pending = n.with(func() bool { return true }), nil
	case o.call == "unlink" || o.call == "rename":
		v.link(v.names, o)
		v.pending[folder] = append(v.pending[folder], o)
	}
}

// crash writes a possible state of the disk to a folder: keep says of each thing
// not flushed whether it is there nevertheless. Names change in order.
func (v *volume) crash(t testing.TB, to string, keep func() bool) {
	t.Helper()
	names := maps.Clone(v.synced)
	for _, folder := range slices.Sorted(maps.Keys(v.pending)) {
		for _, o := range v.pending[folder] {
			if !keep() {
				break
			}
			v.link(names, o)
		}
	}
	for name, n := range names {
		must(t, os.WriteFile(filepath.Join(to, filepath.Base(name)), n.with(keep), 0o600))
	}
}

var (
	tracedCall = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	unfinished = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	quoted     = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	handle     = regexp.MustCompile(`^(\d+)<((?:\\x[0-9a-f]{2})*)>`)
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	must(t, err)
	return b
}

// trace reads what strace wrote: the calls that succeeded, in the order in which
// they ended.
func trace(t testing.TB, log, marks string) (ops []op) {
	t.Helper()
	text, err := os.ReadFile(log)
	must(t, err)
	begun := map[string]string{}
	position := map[string]int64{} // of a handle that is written to without an offset
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := unfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[2]
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = m[1] + " " + begun[m[1]] + m[2]
		}
		m := tracedCall.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[4], "-") {
			continue
		}
		call, args := m[2], m[3]
		var strs []string
		for _, q := range quoted.FindAllStringSubmatch(args, -1) {
			strs = append(strs, string(unhex(t, q[1])))
		}
		fd, path := "", ""
		if h := handle.FindStringSubmatch(args); h != nil {
			fd, path = h[1], string(unhex(t, h[2]))
		}
		number := func(back int) int64 {
			parts := strings.Split(args, ", ")
			n, err := strconv.ParseInt(parts[len(parts)-back], 10, 64)
			must(t, err)
			return n
		}
		switch call {
		case "open", "openat":
			position[m[4]] = 0
			if strings.Contains(args, "O_CREAT") {
				ops = append(ops, op{call: "create", path: strs[0]})
			}
		case "write":
			if path == marks {
				ops = append(ops, op{call: "mark", path: strings.TrimSpace(strs[0])})
				continue
			}
			ops = append(ops, op{call: "write", path: path, data: []byte(strs[0]), at: position[fd]})
			position[fd] += int64(len(strs[0]))
		case "pwrite64":
			ops = append(ops, op{call: "write", path: path, data: []byte(strs[0]), at: number(1)})
		case "ftruncate":
			ops = append(ops, op{call: "ftruncate", path: path, at: number(1)})
		case "fsync", "fdatasync":
			ops = append(ops, op{call: "sync", path: path})
		case "unlink", "unlinkat":
			ops = append(ops, op{call: "unlink", path: strs[0]})
		case "rename", "renameat", "renameat2":
			ops = append(ops, op{call: "rename", path: strs[0], to: strs[1]})
		default:
			t.Fatalf("an unknown call %s", call)
		}
	}
	return ops
}

// TestNothingAcknowledgedIsLostInACrash cuts a training off after each of its
// system calls and throws away what was not flushed: all of it, none, and at
// random. Whatever was acknowledged is there afterwards, and the file of a
// published result holds all of it.
func TestNothingAcknowledgedIsLostInACrash(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here (Debian's package strace brings it): crashes of the machine are not told again")
	}
	if out, err := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, os.Args[0],
		"-test.run=^$").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v %s", err, out)
	}
	p := sqlitePlace(t)
	l := declare(t, p)
	must(t, l.Close())
	folder := filepath.Dir(p.address)
	start, err := os.ReadFile(p.address)
	must(t, err)
	results := t.TempDir() // elsewhere: the ledger flushes its own folder for itself
	out, marks, log := filepath.Join(results, "job"), filepath.Join(t.TempDir(), "marks"),
		filepath.Join(t.TempDir(), "log")
	child := spawn(p.address, results, "job", 0, 0)
	args := []string{"-f", "-qq", "-y", "-xx", "-s", "1000000", "-o", log, "-e",
		"trace=open,openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2"}
	for _, path := range []string{p.address, p.address + "-journal", folder, results, out, out + ".part0", marks} {
		args = append(args, "-P", path)
	}
	cmd := exec.Command(strace, append(args, child.Args...)...)
	cmd.Env = append(child.Env, childMarks+"="+marks)
	if talk, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, talk)
	}
	drawn := draws(t, results)["job"]
	ops := trace(t, log, marks)

	stride := size.Of(5, 1)
	v := &volume{names: map[string]*inode{p.address: {synced: start}}, pending: map[string][]op{}}
	v.synced = maps.Clone(v.names)
	var passed []string
	crashes, durable := 0, map[string]bool{}
	for k, o := range ops {
		if o.call == "mark" {
			passed = append(passed, o.path)
			durable[o.path] = true
		} else if o.path != marks {
			v.do(o)
		}
		if k%stride != 0 && o.call != "mark" { // what was just acknowledged is the first to be lost
			continue
		}
		r := rand.New(rand.NewPCG(uint64(k), 1))
		for way, keep := range []func() bool{
			func() bool { return false },
			func() bool { return true },
			func() bool { return r.IntN(2) == 0 },
			func() bool { return r.IntN(8) == 0 },
			func() bool { return r.IntN(8) != 0 },
			func() bool { return r.IntN(50) != 0 },
		} {
			crashes++
			to := t.TempDir()
			v.crash(t, to, keep)
			afterCrash(t, fmt.Sprintf("call %d (%s %s), way %d", k, o.call, filepath.Base(o.path), way), to, passed, drawn)
			os.RemoveAll(to)
		}
	}
	t.Logf("%d calls, %d crashes", len(ops), crashes)
	for _, point := range []string{"reserve: stored", "begin: stored", "commit: stored", "publish: stored"} {
		if !durable[point] {
			t.Errorf("the training never passed %q: nothing was tested", point)
		}
	}
}

// afterCrash opens what a crash left.
func afterCrash(t *testing.T, where, folder string, passed []string, drawn string) {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(folder, "ledger.db")
	c, err := newConnector(path, false)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	l, err := connectLedger(ctx, c, false, false)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	defer l.Close()
	kinds := map[Kind]bool{}
	if err := l.History(ctx, "d", func(e Entry) error { kinds[e.Kind] = true; return nil }); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	for point, kind := range map[string]Kind{"reserve: stored": Reserved, "begin: stored": Began,
		"commit: stored": Committed, "publish: stored": Published} {
		if slices.Contains(passed, point) && !kinds[kind] {
			t.Errorf("%s: %q was acknowledged, and the ledger has no %s entry", where, point, kind)
		}
	}
	file, err := os.ReadFile(filepath.Join(folder, "job"))
	switch {
	case err == nil && string(file) != drawn:
		t.Errorf("%s: the result's file holds %q", where, file)
	case err == nil && !kinds[Committed]:
		t.Errorf("%s: a result has its file and was not committed", where)
	case err != nil && slices.Contains(passed, "publish: stored"):
		t.Errorf("%s: a published result has lost its file", where)
	}
	if _, err := l.Verify(ctx, nil); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
}
