// SPDX-License-Identifier: Apache-2.0

//go:build goexperiment.simd && amd64

package feature

import "simd/archsimd"

// hasVectors reports whether sixteen lanes can be added at once.
var hasVectors = archsimd.X86.AVX512()

// score is answer by whole lanes, which vector instructions add as fast as half lanes.
func (p *Prepared) score(offsets []uint32, b int, bits []uint32) {
	if !hasVectors {
		p.answer(offsets, b, bits)
		return
	}
	// Two accumulators stay in registers over all joints. A lane holds its
	// score plus 2^31: read as a signed number its sign bit is the answer.
	start, joints := p.s.start[b*blockWords:], len(p.joints)
	lo := archsimd.LoadUint64x8Slice(start).AsInt32x16()
	hi := archsimd.LoadUint64x8Slice(start[8:]).AsInt32x16()
	var zero archsimd.Int32x16
	for i := range bits {
		x, y := lo, hi
		for _, o := range offsets[i*joints:][:joints] {
			entry := p.flat[(int(o)+b)*blockWords:][:blockWords]
			x = x.Add(archsimd.LoadUint64x8Slice(entry).AsInt32x16())
			y = y.Add(archsimd.LoadUint64x8Slice(entry[8:]).AsInt32x16())
		}
		bits[i] = uint32(x.Less(zero).ToBits()) | uint32(y.Less(zero).ToBits())<<16
	}
}
