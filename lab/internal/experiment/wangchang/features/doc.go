// SPDX-License-Identifier: Apache-2.0

// Package features turns small greyscale images into the vectors that Wang and
// Chang classify: histograms of oriented gradients, of which k-means makes a
// dictionary of visual words, of which each image is a bag.
//
// The dictionary is learned from unperturbed images. That release is paid for
// by no one, so no vector of this package comes with a privacy claim, whatever
// noise is added to it later; figures that use them say so.
package features
