// SPDX-License-Identifier: Apache-2.0

// Package dossier is what the files of a release say: it makes them of a model, a ledger and reports,
// and judges whether what a release holds fits together. It reads no row.
package dossier
