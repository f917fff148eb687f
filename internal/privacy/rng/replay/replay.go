// SPDX-License-Identifier: Apache-2.0

// Package replay supplies reproducible random bits for tests and experiments. Results that depend on
// them are marked as seeded.
package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Seeded returns a reproducible Source. Equal seeds and streams give equal words; different streams of
// one seed are practically independent (the ChaCha8 key is a hash of both).
func Seeded(seed uint64, stream string) rng.Source {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return &source{rand.NewChaCha8(sha256.Sum256(append(b[:], stream...)))}
}

type source struct{ *rand.ChaCha8 }

func (*source) Seeded() bool { return true }
