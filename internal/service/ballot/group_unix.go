// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ballot

import (
	"os/exec"
	"syscall"
)

// inGroup makes c, when it is ended early, end with all that it has started: the
// shell's child would go on voting.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
