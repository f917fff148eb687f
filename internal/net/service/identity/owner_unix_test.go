// SPDX-License-Identifier: Apache-2.0

//go:build unix

package identity

import (
	"io/fs"
	"testing"
)

// A key is for its owner alone; one that root has put there, for its group to read alone.
func TestOpenKeys(t *testing.T) {
	for _, c := range []struct {
		mode   fs.FileMode
		ofRoot bool
		want   bool
	}{{0o600, false, false}, {0o400, false, false}, {0o440, false, true}, {0o604, false, true}, {0o440, true, false},
		{0o640, true, false}, {0o660, true, true}, {0o444, true, true}, {0o450, true, true}} {
		if isOpen(c.mode, c.ofRoot) != c.want {
			t.Errorf("mode %04o, of root: %v: open: %v", c.mode, c.ofRoot, !c.want)
		}
	}
}
