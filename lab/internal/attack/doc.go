// SPDX-License-Identifier: Apache-2.0

// Package attack performs membership inference against a training on a given table, and measures the
// success of an attacker who wants to find out who is in it (G-AUDIT-2).
package attack
