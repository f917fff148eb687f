// SPDX-License-Identifier: Apache-2.0

// Package frame runs figures: it repeats their measurements, keeps every number
// as a line of a file, draws them beside what the paper states and judges
// whether the paper's claim came out.
//
// A figure is a list of Points, each measured once in every repeat. Point and
// repeat draw from streams of their own, named after them, so a number depends
// on the seed alone: not on the processors, nor on which numbers were there
// before. Running a figure again measures only what its file lacks.
//
// Figures compare learners on public data with known seeds. Nothing here is
// private, and every model is marked seeded.
package frame
