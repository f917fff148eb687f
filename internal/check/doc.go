// SPDX-License-Identifier: Apache-2.0

// Package check is the room of what judges the others, and is in no program: rules about the source (lint), planted
// bugs (mutants), neighbouring tables through every learner (noninterference), the library as a user
// imports it (librarytest), and test kits (testkit).
//
// To change here: a rule comes with samples on both sides, a planted bug is seen red once, a kit is used by two
// rooms. Product code imports nothing of it.
//
// Judged by: go test ./internal/check/...
package check
