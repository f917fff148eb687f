// SPDX-License-Identifier: Apache-2.0

package tasks

// reports sets signatures of reports apart from others.
const reports = "discreet report 1\x00"

// Signable is the text that an owner signs with its Ed25519 key: the report, named as one.
func Signable(report []byte) []byte { return append([]byte(reports), report...) }
