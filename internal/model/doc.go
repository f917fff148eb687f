// SPDX-License-Identifier: Apache-2.0

// Package model is what a learner releases: it predicts, and it goes to and
// from bytes. A model file holds what prediction needs, the privacy statement,
// and nothing that was not paid for (see TestModelHoldsOnlyAllowedFields).
package model
