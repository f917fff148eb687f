// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
)

// Threshold determines the score from which on a row is predicted positive if there are two classes.
// The zero Threshold is that of the model.
type Threshold struct {
	rule  string // "", "score", "rate" or "costs"
	value float64
}

// ParseThreshold parses a threshold: a score from 0 to 1; rate=R, which selects at most the share R of
// the rows, those with the highest scores; or costs=FP:FN, which minimizes the cost if a false
// positive costs FP, a false negative FN, and scores are probabilities.
func ParseThreshold(text string) (Threshold, error) {
	refuse := func(want string) (Threshold, error) {
		return Threshold{}, &dp.ParamError{Op: "predict", Param: "threshold", Want: want, Got: strconv.Quote(text)}
	}
	if text == "" {
		return Threshold{}, nil
	}
	rule, value, named := strings.Cut(text, "=")
	switch {
	case !named:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return refuse("must be a score from 0 to 1, rate=SHARE or costs=FALSE_POSITIVE:FALSE_NEGATIVE")
		}
		return Threshold{"score", x}, nil
	case rule == "rate":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return refuse("must have a share of the rows from 0 to 1")
		}
		return Threshold{rule, x}, nil
	case rule == "costs":
		left, right, _ := strings.Cut(value, ":")
		fp, err := strconv.ParseFloat(left, 64)
		fn, err2 := strconv.ParseFloat(right, 64)
		if err != nil || err2 != nil || !(fp > 0 && fn > 0 && fp+fn < math.Inf(1)) {
			return refuse("must have two costs above 0, of a false positive and of a false negative")
		}
		return Threshold{rule, fp / (fp + fn)}, nil
	}
	return refuse("must be a score from 0 to 1, rate=SHARE or costs=FALSE_POSITIVE:FALSE_NEGATIVE")
}

// Given reports whether the threshold is not that of the model.
func (t Threshold) Given() bool { return t.rule != "" }

// Fixed returns the score from which m predicts rows positive: its own if that depends on the rows.
func (t Threshold) Fixed(m *model.Model) float64 {
	if t.NeedsScores() {
		return m.Threshold()
	}
	return t.At(m, nil)
}

// Rate returns the share of the rows that a threshold selects, 0 if it selects none by their share.
func (t Threshold) Rate() float64 {
	if t.NeedsScores() {
		return t.value
	}
	return 0
}

// NeedsScores reports whether At uses the scores.
func (t Threshold) NeedsScores() bool { return t.rule == "rate" }

// At returns the score from which on rows with these scores by m are predicted positive, or +Inf if none
// is. Rows with equal scores are all predicted positive or none of them.
func (t Threshold) At(m *model.Model, scores []float64) float64 {
	switch t.rule {
	case "":
		return m.Threshold()
	case "score", "costs":
		return t.value
	}
	most := int(t.value * float64(len(scores)))
	if most >= len(scores) {
		return 0
	}
	sorted := slices.Clone(scores)
	slices.Sort(sorted)
	first := sorted[len(sorted)-1-most] // the best of those that are too many
	at, _ := slices.BinarySearchFunc(sorted, first, func(x, first float64) int {
		if x <= first {
			return -1
		}
		return 1
	})
	if at == len(sorted) {
		return math.Inf(1)
	}
	return sorted[at]
}
