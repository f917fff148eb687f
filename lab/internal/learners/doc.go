// SPDX-License-Identifier: Apache-2.0

// Package learners is the table of what the laboratory trains besides the product's learners, each
// with the product's contract: people, pate and adaboost, by the papers that the figures are about.
package learners

import "github.com/discreet-dp/discreet/internal/train"

// Register adds them to the table of learners.
func Register() { train.Register(peopleLearner, pateLearner, adaboostLearner) }
