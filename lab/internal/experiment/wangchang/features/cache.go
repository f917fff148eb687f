// SPDX-License-Identifier: Apache-2.0

package features

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Matrix is rows of numbers, and where they come from.
type Matrix struct {
	Rows, Width int
	Cells       []float32 // Rows×Width
}

// Kept returns the matrix that a folder keeps under a name, or makes and keeps
// it. The file's name ends in a digest of of, which must say everything the
// matrix follows from; its content carries a checksum, and a file that does not
// match is made again. An empty folder keeps nothing. The digest comes back for
// records.
func Kept(folder, name string, of []byte, make func() (*Matrix, error)) (m *Matrix, digest string, err error) {
	sum := sha256.Sum256(of)
	digest = hex.EncodeToString(sum[:6])
	if folder == "" {
		m, err = make()
		return m, digest, err
	}
	path := filepath.Join(folder, name+"-"+digest+".f32")
	text, err := os.ReadFile(path)
	if err == nil {
		if m, ok := unpackMatrix(text); ok {
			return m, digest, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if m, err = make(); err != nil {
		return nil, "", err
	}
	return m, digest, replaceFile(path, m.packMatrix())
}

// replaceFile replaces a file as a whole, so that a killed run leaves none in part.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("features: keep %s: %w", filepath.Base(path), err), os.Remove(f.Name()))
	}
	return nil
}

// packMatrix is the SHA-256 of what follows, then rows, width and cells, little-endian.
func (m *Matrix) packMatrix() []byte {
	out := make([]byte, sha256.Size, sha256.Size+8+4*len(m.Cells))
	out = binary.LittleEndian.AppendUint32(out, uint32(m.Rows))
	out = binary.LittleEndian.AppendUint32(out, uint32(m.Width))
	out, _ = binary.Append(out, binary.LittleEndian, m.Cells) // floats of a fixed size cannot fail
	sum := sha256.Sum256(out[sha256.Size:])
	copy(out, sum[:])
	return out
}

func unpackMatrix(text []byte) (*Matrix, bool) {
	if len(text) < sha256.Size+8 {
		return nil, false
	}
	sum := sha256.Sum256(text[sha256.Size:])
	if !bytes.Equal(sum[:], text[:sha256.Size]) {
		return nil, false
	}
	head, cells := text[sha256.Size:sha256.Size+8], text[sha256.Size+8:]
	m := &Matrix{Rows: int(binary.LittleEndian.Uint32(head)), Width: int(binary.LittleEndian.Uint32(head[4:]))}
	if uint64(len(cells)) != 4*uint64(m.Rows)*uint64(m.Width) {
		return nil, false
	}
	m.Cells = make([]float32, len(cells)/4)
	_, err := binary.Decode(cells, binary.LittleEndian, m.Cells)
	return m, err == nil
}
