// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package identity

import "io/fs"

// othersMayRead cannot be told from a file's mode here.
func othersMayRead(fs.FileInfo) bool { return false }
