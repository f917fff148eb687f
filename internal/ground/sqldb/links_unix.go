// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqldb

import (
	"io/fs"
	"syscall"
)

// countLinks returns the number of names that a file has.
func countLinks(_ string, info fs.FileInfo) (uint64, error) {
	return uint64(info.Sys().(*syscall.Stat_t).Nlink), nil
}
