// SPDX-License-Identifier: Apache-2.0

// Package mutants plants a bug for each claim of evidence/guarantees, and bugs that once survived, one at
// a time, and requires that the named test fails for each. This shows that those tests work. A row gives a
// declaration and a few words of its code, so that it survives moves and edits elsewhere.
package mutants
