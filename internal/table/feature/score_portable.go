// SPDX-License-Identifier: Apache-2.0

//go:build !(goexperiment.simd && amd64)

package feature

func (p *Prepared) score(offsets []uint32, b int, bits []uint32) { p.answerBlock(offsets, b, bits) }
