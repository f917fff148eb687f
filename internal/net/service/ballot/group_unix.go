// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ballot

import (
	"os/exec"
	"syscall"
)

// inGroup makes sure that killing c also kills the processes that it has started. Otherwise the
// shell's child would continue to vote.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
