// SPDX-License-Identifier: Apache-2.0

//go:build !(goexperiment.simd && amd64)

package feature

func score(bits []uint32, flat, start []uint64, offsets []uint32, joints, block, lanes int) {
	scoreWords(bits, flat, start, offsets, joints, block, lanes)
}
