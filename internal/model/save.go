// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
)

// Save writes m to path atomically, readable by its user alone. It replaces a plain file. After a
// failure the old file is intact.
func (m *Model) Save(path string) error {
	file, err := Marshal(m)
	if err != nil {
		return err
	}
	return SaveFile(path, file)
}

// SaveFile is Save for what Marshal returned.
func SaveFile(path string, file []byte) error {
	err := atomicfile.Write(path, atomicfile.Private, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
	if err != nil {
		return fmt.Errorf("model: save: %w", err)
	}
	return nil
}
