// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// TestFaultsOfTheSystem fails, one after another, every system call that a
// training makes on the ledger, its journal, their folder and the result, with
// the kernel's own errors: below SQLite, where no wrapper reaches. It needs
// strace, and the right to trace.
func TestFaultsOfTheSystem(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here (Debian's package strace brings it): system calls are not made to fail")
	}
	if out, err := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, os.Args[0],
		"-test.run=^$").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v %s", err, out)
	}
	p := sqlitePlace(t)
	l := declare(t, p)
	folder := filepath.Dir(p.address)
	fired := 0
	stride := size.Of(7, 1)
	for _, kind := range []struct{ call, err string }{
		{"openat", "EIO"}, {"pwrite64", "EIO"}, {"pwrite64", "ENOSPC"}, {"write", "ENOSPC"}, {"fsync", "EIO"},
		{"fdatasync", "EIO"},
		{"pread64", "EIO"}, {"ftruncate", "EIO"}, {"fcntl", "EIO"}, {"unlink", "EIO"}, {"unlinkat", "EIO"}, {"rename", "EIO"},
		{"renameat", "EIO"}, {"close", "EIO"},
	} {
		for at := 1; ; at += stride {
			id := fmt.Sprintf("%s-%s-%d", kind.call, kind.err, at)
			out, log := filepath.Join(folder, id), filepath.Join(t.TempDir(), "log")
			before := balanceOf(t, l)
			child := spawn(p.address, folder, id, 0, 0)
			cmd := exec.Command(strace, append([]string{"-f", "-qq", "-o", log,
				"-P", p.address, "-P", p.address + "-journal", "-P", folder, "-P", out, "-P", out + ".part0",
				"-e", "trace=" + kind.call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", kind.call, kind.err, at)},
				child.Args...)...)
			cmd.Env = child.Env
			talk, ended := cmd.CombinedOutput()
			calls, err := os.ReadFile(log)
			must(t, err)
			if !bytes.Contains(calls, []byte("INJECTED")) {
				if ended != nil {
					t.Fatalf("%s: without a fault: %v\n%s", id, ended, talk)
				}
				break
			}
			fired++
			settled(t, l, id, out, draws(t, folder)[id], before, func() string { return logged(folder, id) })
		}
	}
	verify(t, l)
	t.Logf("%d system calls failed", fired)
	if fired < 12 {
		t.Errorf("only %d system calls were made to fail", fired)
	}
}
