// SPDX-License-Identifier: Apache-2.0

package metrics

import "fmt"

// Report is the comparison of n predictions with the truth.
type Report struct {
	Rows int `json:"rows"`
	// Accuracy is the share of rows whose predicted level is the true one.
	Accuracy float64 `json:"accuracy"`
	// BalancedAccuracy is the mean, over the levels that occur, of the share of
	// a level's rows that are predicted right.
	BalancedAccuracy float64 `json:"balanced_accuracy"`
	// AUC is the chance that a random row of the positive level scores above a
	// random other row, ties counting half; with more than two levels, the mean
	// of that over the levels, each against the rest. It is nil if a level
	// that it needs does not occur.
	AUC *float64 `json:"auc"`
	// LogLoss is the mean of -ln(score of the true level), in nats, each score
	// clipped to [1e-15, 1 - 1e-15] so that one sure mistake is not infinite.
	LogLoss float64 `json:"log_loss"`
	// CalibrationError is the expected calibration error over ten bins of equal
	// width: the mean over rows of the distance, in the row's bin, between the
	// mean score and the share it should equal. With two levels scores of the
	// positive level are binned and the share is of positive rows; with more,
	// the highest score of each row, and the share is of right predictions.
	CalibrationError float64 `json:"calibration_error"`
	// Calibration is those ten bins.
	Calibration []Bin     `json:"calibration"`
	Confusion   Confusion `json:"confusion"`
	// Majority is the level with most rows, MajorityAccuracy the accuracy of predicting it
	// always: what a model that learnt nothing reaches.
	Majority         string  `json:"majority"`
	MajorityAccuracy float64 `json:"majority_accuracy"`
	// Unpredicted are the levels that no row is predicted to be.
	Unpredicted []string `json:"unpredicted"`
	// Ranking is nil if the label has more than two levels.
	Ranking *Ranking `json:"ranking,omitempty"`
}

// Confusion counts rows by true and predicted level.
type Confusion struct {
	Labels []string `json:"labels"`
	Counts [][]int  `json:"counts"` // K×K: row = truth, column = predicted, in the order of Labels
}

const (
	clip = 1e-15 // log loss
	bins = 10    // calibration
)

// Evaluate compares scores with truth, the codes of levels, K of them. With two
// levels scores has one number in [0, 1] per row, the score of the level coded
// positive, which is predicted from 1/2 on. With more, scores is n×K row-major,
// positive is not used and the highest score, the first of equal ones, is the
// prediction. Time is O(n K log n).
func Evaluate(truth []uint8, scores []float64, levels []string, positive int) (*Report, error) {
	return EvaluateAt(truth, scores, levels, positive, 0.5)
}

// EvaluateAt is Evaluate if rows of a label with two levels are predicted positive from
// the score threshold on.
func EvaluateAt(truth []uint8, scores []float64, levels []string, positive int, threshold float64) (*Report, error) {
	if err := checkPredictions(truth, scores, levels, positive); err != nil {
		return nil, err
	}
	p := &predictions{len(levels), truth, scores, positive, threshold}
	r := &Report{Rows: len(truth), Confusion: p.countConfusion(levels)}
	r.Accuracy, r.BalancedAccuracy = r.Confusion.computeAccuracies()
	r.AUC = p.computeAUC()
	r.LogLoss = p.logLoss()
	r.CalibrationError, r.Calibration = p.calibrate()
	r.Majority, r.MajorityAccuracy = r.Confusion.findMajority()
	r.Unpredicted = r.Confusion.listUnpredicted()
	if p.K == 2 {
		r.Ranking = p.rankRows()
	}
	return r, nil
}

func checkPredictions(truth []uint8, scores []float64, levels []string, positive int) error {
	n, K := len(truth), len(levels)
	switch {
	case K < 2 || K > 256:
		return fmt.Errorf("metrics: levels must number 2 to 256 (got %d)", K)
	case n == 0:
		return fmt.Errorf("metrics: rows must number at least 1 (got 0)")
	case K == 2 && (positive < 0 || positive > 1):
		return fmt.Errorf("metrics: positive must be the code of a level, 0 or 1 (got %d)", positive)
	case K == 2 && len(scores) != n:
		return fmt.Errorf("metrics: scores must number one per row, %d (got %d)", n, len(scores))
	case K > 2 && len(scores) != n*K:
		return fmt.Errorf("metrics: scores must number one per row and level, %d (got %d)", n*K, len(scores))
	}
	for _, code := range truth {
		if int(code) >= K {
			return fmt.Errorf("metrics: truth must hold codes of the %d levels only", K)
		}
	}
	for _, s := range scores {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("metrics: scores must lie in [0, 1]")
		}
	}
	return nil
}
