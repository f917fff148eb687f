// SPDX-License-Identifier: Apache-2.0

package sqldbtest

import (
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
)

// Disk is a disk with a given number of free bytes, for sqldb's Options.Room.
type Disk struct{ Left atomic.Int64 }

// Room refuses more bytes than are left. Writing does not reduce them.
func (d *Disk) Room(_ string, more int64) error {
	if d.Left.Load() < more {
		return diskroom.ErrFull
	}
	return nil
}
