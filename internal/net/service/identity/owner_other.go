// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package identity

import "io/fs"

// othersMayRead returns false, because a file's mode does not show permissions on this system.
func othersMayRead(fs.FileInfo) bool { return false }
