// SPDX-License-Identifier: Apache-2.0

// Package model is the format of released models: it predicts, and reads and writes model files. A
// model file holds what prediction needs and the privacy statement, and nothing that was not paid for
// (see TestModelHoldsOnlyAllowedFields).
//
// Beside it: the chart and words of what a model has learnt (explain), what runs it elsewhere (export), how good it is
// (metrics), and how noisy sums become shapes (shrink).
//
// To change here: a kind of model is a body with its check, its scores and its page docs/model-file.md; a field of
// the file is in allow_test.go, too, and says who paid for it. A format of export is a file of export and a line in its
// export.go; cmd/discreet, release/archive.go, docs/export.md and docs/verify.html list formats.
//
// Judged by: go test ./internal/model/... ./internal/train ./internal/serve/...
package model
