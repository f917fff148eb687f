// SPDX-License-Identifier: Apache-2.0

// Package diskroom keeps part of a disk free: what others send is not written
// where less would be left, so that they cannot stop the machine by it.
package diskroom

import (
	"errors"
	"fmt"
)

const (
	// mostFloor is the most that is kept free, leastPart the part of a small disk.
	mostFloor = 256 << 20
	leastPart = 20
)

// ErrFull is in every refusal of Check.
var ErrFull = errors.New("the disk is full but for what is kept free")

// measure is how many bytes of the disk at path are free for this process, and
// how many there are; total is 0 if the system does not say. Tests replace it.
var measure = measureDisk

// Check refuses to write more bytes to the disk that holds path, a file or folder
// that is there, if less than the floor would stay free: a twentieth of the disk,
// at most 256 MiB. A system that does not say what is free is not held to it.
func Check(path string, more int64) error {
	free, total, err := measure(path)
	if err != nil || total == 0 {
		return err
	}
	floor := min(mostFloor, total/leastPart)
	if more < 0 || free < floor || free-floor < uint64(more) {
		return fmt.Errorf("%w: %s: %d bytes must stay free", ErrFull, path, floor)
	}
	return nil
}
