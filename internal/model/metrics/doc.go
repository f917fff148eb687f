// SPDX-License-Identifier: Apache-2.0

// Package metrics measures how well predictions match the truth. Its numbers are exact and not
// private: if computed on protected rows, they must not be released.
package metrics
