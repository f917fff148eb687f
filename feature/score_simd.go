// SPDX-License-Identifier: Apache-2.0

//go:build goexperiment.simd && amd64

package feature

import "simd/archsimd"

// hasVectors says whether sixteen lanes can be added at once.
var hasVectors = archsimd.X86.AVX512()

func score(bits []uint32, flat, start []uint64, offsets []uint32, joints, block, lanes int) {
	if !hasVectors {
		scoreWords(bits, flat, start, offsets, joints, block, lanes)
		return
	}
	// Two accumulators stay in registers over all joints. A lane holds its
	// score plus 2^31: read as a signed number its sign bit is the answer.
	lo := archsimd.LoadUint64x8Slice(start).AsInt32x16()
	hi := archsimd.LoadUint64x8Slice(start[8:]).AsInt32x16()
	var zero archsimd.Int32x16
	for i := range bits {
		a, b := lo, hi
		for k := range joints {
			entry := flat[(int(offsets[k*batchRows+i])+block)*blockWords:][:blockWords]
			a = a.Add(archsimd.LoadUint64x8Slice(entry).AsInt32x16())
			b = b.Add(archsimd.LoadUint64x8Slice(entry[8:]).AsInt32x16())
		}
		bits[i] = uint32(a.Less(zero).ToBits()) | uint32(b.Less(zero).ToBits())<<16
	}
}
