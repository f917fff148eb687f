// SPDX-License-Identifier: Apache-2.0

//go:build unix

package identity

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMayRead reports whether users other than this process's can read a private key.
func othersMayRead(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return isOpen(info.Mode(), ok && s.Uid == 0 && os.Geteuid() != 0)
}

// isOpen reports whether users other than the owner can read a file. If root has put it there for a
// process of another user, as Kubernetes does with secrets, the group may also read it.
func isOpen(mode fs.FileMode, ofRoot bool) bool {
	if ofRoot {
		return mode.Perm()&0o037 != 0
	}
	return mode.Perm()&0o077 != 0
}
