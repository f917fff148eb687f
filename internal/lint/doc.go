// SPDX-License-Identifier: Apache-2.0

// Package lint holds this repository's rules as Go tests. Each rule is a
// function from the parsed module to complaints; each has a test that feeds it
// a bad sample. The rules read sources, not builds, so they see every build tag
// and work on a tree that does not compile (bounds excepted: they need types).
//
// Run with -count=1: the test cache does not notice every edit to what a test
// inspects.
package lint
