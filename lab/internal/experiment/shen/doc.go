// SPDX-License-Identifier: Apache-2.0

// Package shen measures the figures of Shen, Krishnaswamy, Kulkarni, Munagala,
// "Classification with Partially Private Features" (arXiv 2312.07583). One file
// per figure.
package shen

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

const paper = "Shen, Krishnaswamy, Kulkarni, Munagala: Classification with Partially Private Features, arXiv 2312.07583"

// Figures are the paper's figures, in its order.
func Figures() []*frame.Figure {
	return []*frame.Figure{
		newFig1a(), newFig1b(), newFig1c(),
		newFig2a(), newFig2b(), newFig2c(), newFig2d(),
		newFig3a(), newFig3b(), newFig3c(), newFig3d(),
		newFig4a(), newFig4b(), newFig4c(), newFig4d(),
		newLimitation(), newIntercepts(), newSubroutines(), newEdges(),
	}
}
