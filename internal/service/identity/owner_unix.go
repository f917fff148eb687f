// SPDX-License-Identifier: Apache-2.0

//go:build unix

package identity

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMayRead reports whether more than this process may read a private key.
func othersMayRead(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return isOpen(info.Mode(), ok && s.Uid == 0 && os.Geteuid() != 0)
}

// isOpen reports whether a file is open to anyone but its owner, or, if root has put it there for a
// process of another user, as Kubernetes does with secrets, to anyone but its group.
func isOpen(mode fs.FileMode, ofRoot bool) bool {
	if ofRoot {
		return mode.Perm()&0o037 != 0
	}
	return mode.Perm()&0o077 != 0
}
