// SPDX-License-Identifier: Apache-2.0

// Package mutants plants known privacy bugs one at a time and requires that the named test fails for
// each. This shows that those tests work.
package mutants
