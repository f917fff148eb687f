// SPDX-License-Identifier: Apache-2.0

// Package finding writes what audits and attacks found: numbers for programs, lines
// for people, and charts.
package finding
