// SPDX-License-Identifier: Apache-2.0

// Package metrics says how well predictions meet the truth. Its numbers are
// exact and not private: computed on protected rows, they must not leave.
package metrics
