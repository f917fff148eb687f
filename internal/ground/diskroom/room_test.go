// SPDX-License-Identifier: Apache-2.0

package diskroom

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
)

// TestFloorStaysFree holds the floor of large disks and of small ones to the byte.
func TestFloorStaysFree(t *testing.T) {
	defer func() { measure = measureDisk }()
	for _, c := range []struct {
		free, total uint64
		more        int64
		full        bool
	}{
		{256<<20 + 10, 1 << 40, 10, false},
		{256<<20 + 10, 1 << 40, 11, true},
		{256<<20 - 1, 1 << 40, 0, true},
		{1000, 20000, 0, false}, // a twentieth is 1000
		{1000, 20000, 1, true},
		{999, 20000, 0, true},
		{1 << 40, 1 << 40, -1, true},
		{0, 0, 1 << 40, false}, // unknown
	} {
		measure = func(string) (uint64, uint64, error) { return c.free, c.total, nil }
		if err := Check(".", c.more); errors.Is(err, ErrFull) != c.full {
			t.Errorf("%d of %d free, %d more: %v, want full %v", c.free, c.total, c.more, err, c.full)
		}
	}
	fault := errors.New("no such disk")
	measure = func(string) (uint64, uint64, error) { return 0, 0, fault }
	if err := Check(".", 1); !errors.Is(err, fault) {
		t.Errorf("a disk that cannot be measured: %v", err)
	}
}

// TestThisDisk measures the disk of a folder.
func TestThisDisk(t *testing.T) {
	dir := t.TempDir()
	if free, total, err := measureDisk(dir); err != nil || free > total ||
		(runtime.GOOS == "linux" || runtime.GOOS == "darwin") && total == 0 {
		t.Errorf("%d of %d are free: %v", free, total, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if err := Check(dir, 1<<62); !errors.Is(err, ErrFull) {
		t.Errorf("room for 2^62 bytes: %v", err)
	}
	if err := Check(filepath.Join(dir, "nowhere"), 0); err == nil || errors.Is(err, ErrFull) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
