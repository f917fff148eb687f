// SPDX-License-Identifier: Apache-2.0

package feature

// LevelShape is a step function of one column for each level of a label.
type LevelShape struct {
	Bins
	Steps [][]float64 // by level, then bin; in nats, at most MaxStep in size
}
