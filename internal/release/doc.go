// SPDX-License-Identifier: Apache-2.0

// Package release puts a model in an archive that others can verify: the files of the release, and one
// signed attestation that lists each with its SHA-256. Package dossier makes and judges the contents
// of the files.
//
// A release has only one valid sequence of bytes. In its ZIP file nothing is compressed, files are
// sorted by name, and no header field has a choice. Open writes an archive again and compares, so that
// it accepts no other bytes. The attestation is a DSSE envelope with one signature over an in-toto
// Statement, also in one form only.
//
// Beside it: the page that an officer signs (card).
//
// To change here: a sentence of the card is in card, a file of a release in dossier, with docs/verifying.md.
//
// Judged by: go test ./internal/release/... ./cmd/discreet.
package release
