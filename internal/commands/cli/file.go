// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
)

// CheckWritable returns an error if path cannot be written. It leaves nothing behind.
func CheckWritable(path string) error { return atomicfile.Check(path) }
