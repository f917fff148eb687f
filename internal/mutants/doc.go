// SPDX-License-Identifier: Apache-2.0

// Package mutants plants known privacy bugs one at a time and demands that the
// test named for each turns red: how we know those tests are alive.
//
// Room rules. Owns: the table of bugs. Imports: nothing of ours; it runs the go
// command on the module with single files replaced. `make mutants` runs it.
package mutants
