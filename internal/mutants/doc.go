// SPDX-License-Identifier: Apache-2.0

// Package mutants plants known privacy bugs one at a time and demands that the
// test named for each turns red: how we know those tests are alive.
package mutants
