// SPDX-License-Identifier: Apache-2.0

package tasks

// reports separates signatures of reports from others.
const reports = "discreet report 1\x00"

// Signable returns the text that an owner signs with its Ed25519 key: the report after a prefix for
// reports.
func Signable(report []byte) []byte { return append([]byte(reports), report...) }
