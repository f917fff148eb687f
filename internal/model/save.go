// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Save writes m to path, replacing a plain file that is there. Whatever
// happens, path holds the old file or the whole new one, never a part: the
// bytes go to a file beside it first, reach the disk, and then take the name.
func (m *Model) Save(path string) error {
	file, err := Marshal(m)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("model: save: %s must be a plain file or not exist", path)
	}
	if err := replace(path, file); err != nil {
		return fmt.Errorf("model: save: %w", err)
	}
	return nil
}

// replace gives path the content file, and leaves nothing behind when it fails.
func replace(path string, file []byte) error {
	part, err := beside(path)
	if err != nil {
		return err
	}
	_, err = part.Write(file)
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// beside creates a new file in the folder of path. A part left by a crash does
// not stand in the way.
func beside(path string) (*os.File, error) {
	for i := 0; ; i++ {
		part, err := os.OpenFile(fmt.Sprintf("%s.part%d", path, i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || i == 100 {
			return part, err
		}
	}
}
