// SPDX-License-Identifier: Apache-2.0

// Package memory answers an engine's questions from coded columns in memory, on all cores. Its answers
// do not depend on the number of cores.
package memory
