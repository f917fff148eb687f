// SPDX-License-Identifier: Apache-2.0

// Package report makes one page of the folders that "discreet experiment run"
// writes: each figure with its claim, its verdict, its chart, what the paper
// states beside what came out, and every mean with its spread.
//
// The page is a single HTML file that asks no one for anything. It reads without
// scripts, on a phone, on paper, in light and in dark; a script of a few lines
// makes its tables sortable where scripts run. Equal folders give equal bytes.
//
// The folders are read as files of a known format, not as values of package
// experiment, which reaches everything; a test runs a figure through both.
// What is not there (a chart, a verdict, a repeat) is said on the page. What is
// there and makes no sense is an error.
package report
