// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Worker identifies this process, so that recover can find out whether it still runs.
func Worker() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// Ended reports whether a worker is a process of this machine that has ended. For workers of other
// machines it returns elsewhere. If another process has the same number by now, the worker counts as
// running, which is the safe error.
func Ended(name string, elsewhere bool) bool {
	host, number, _ := strings.Cut(name, "/")
	mine, err := os.Hostname()
	if err != nil || host != mine {
		return elsewhere
	}
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return elsewhere
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
