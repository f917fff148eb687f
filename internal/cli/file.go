// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/discreet-dp/discreet/internal/atomicfile"
)

// CheckWritable tells whether path can be written, and leaves nothing behind.
func CheckWritable(path string) error { return atomicfile.Check(path) }
