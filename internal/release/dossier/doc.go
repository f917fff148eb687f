// SPDX-License-Identifier: Apache-2.0

// Package dossier makes the files of a release from a model, a ledger and reports, and checks that the
// files of a release are consistent. It reads no row.
package dossier
