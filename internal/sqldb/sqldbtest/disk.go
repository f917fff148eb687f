// SPDX-License-Identifier: Apache-2.0

package sqldbtest

import (
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/diskroom"
)

// Disk is a disk with room for so many bytes more, for sqldb's Options.Room.
type Disk struct{ Left atomic.Int64 }

// Room refuses more than is left. What is written does not make it less.
func (d *Disk) Room(_ string, more int64) error {
	if d.Left.Load() < more {
		return diskroom.ErrFull
	}
	return nil
}
