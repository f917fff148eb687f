// SPDX-License-Identifier: Apache-2.0

// Package model is the format of released models: it predicts, and reads and writes model files. A
// model file holds what prediction needs and the privacy statement, and nothing that was not paid for
// (see TestModelHoldsOnlyAllowedFields).
package model
