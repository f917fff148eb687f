// SPDX-License-Identifier: Apache-2.0

// Package model is the format of released models: it predicts, and reads and writes model files. A
// model file holds what prediction needs and the privacy statement, and nothing that was not paid for
// (see TestModelHoldsOnlyAllowedFields).
//
// Beside it: the chart and words of what a model has learnt (explain), what runs it elsewhere (export), how good it is
// (metrics), and how noisy sums become shapes (shrink).
//
// To change here: a kind of model is a body with its check, its scores and its page docs/model-file.md; a format
// of export is a file of export. A field of the file says who paid for it.
//
// Judged by: go test ./internal/model/... ./internal/train ./internal/serve/...
package model
