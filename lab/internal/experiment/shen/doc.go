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
		fig1a(), fig1b(), fig1c(),
		fig2a(), fig2b(), fig2c(), fig2d(),
		fig3a(), fig3b(), fig3c(), fig3d(),
		fig4a(), fig4b(), fig4c(), fig4d(),
		limitation(),
	}
}
