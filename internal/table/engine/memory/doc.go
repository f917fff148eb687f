// SPDX-License-Identifier: Apache-2.0

// Package memory answers an engine's questions from coded columns in memory,
// on all cores, with answers that do not depend on how many there are.
package memory
