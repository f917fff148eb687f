// SPDX-License-Identifier: Apache-2.0

// Package release is a model in an archive that others can verify: the files of the release, and one
// signed attestation that lists each with its SHA-256. What the files say is for package dossier.
//
// The archive is a ZIP file in one form only: nothing is compressed, the files stand in the order
// of their names, and no field has a choice. An archive is read, written again and compared, so
// that no byte of it can be another. The attestation is a DSSE envelope with one signature, about a
// Statement of in-toto, in one form as well.
package release
