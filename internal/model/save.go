// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/atomicfile"
)

// Save writes m to path, for its user alone, replacing a plain file that is there.
// Whatever happens, path holds the old file or the whole new one.
func (m *Model) Save(path string) error {
	file, err := Marshal(m)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, atomicfile.Private, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	}); err != nil {
		return fmt.Errorf("model: save: %w", err)
	}
	return nil
}
