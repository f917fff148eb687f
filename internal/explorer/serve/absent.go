// SPDX-License-Identifier: Apache-2.0

//go:build !explorer

package serve

import "io/fs"

// BuiltIn is nil: a build without the tag explorer has no engine.
func BuiltIn() fs.FS { return nil }
