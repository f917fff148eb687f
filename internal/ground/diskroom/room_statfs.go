// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package diskroom

import (
	"fmt"
	"syscall"
)

func measureDisk(path string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, 0, fmt.Errorf("diskroom: %s: %w", path, err)
	}
	block := uint64(s.Bsize)
	return s.Bavail * block, s.Blocks * block, nil
}
