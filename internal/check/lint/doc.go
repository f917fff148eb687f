// SPDX-License-Identifier: Apache-2.0

// Package lint contains this repository's rules as Go tests. Each rule is a function from the parsed
// module to complaints, and has a test with a bad sample. The rules read sources and not builds, so
// that they see every build tag and work on a tree that does not compile.
//
// Run with -count=1, because the test cache does not notice every change to the files that a test
// reads.
package lint
