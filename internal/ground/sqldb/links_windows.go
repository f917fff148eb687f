// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"io/fs"

	"syscall"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// countLinks returns the number of names that a file has.
func countLinks(path string, _ fs.FileInfo) (uint64, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var info syscall.ByHandleFileInformation
	err = syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}
