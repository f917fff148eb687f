// SPDX-License-Identifier: Apache-2.0

package metrics

import "fmt"

// Report is the comparison of n predictions with the truth.
type Report struct {
	Rows int `json:"rows"`
	// Accuracy is the share of rows whose predicted level is the true one.
	Accuracy float64 `json:"accuracy"`
	// BalancedAccuracy is the share of a level's rows that are predicted correctly, averaged over the
	// levels that occur.
	BalancedAccuracy float64 `json:"balanced_accuracy"`
	// AUC is the probability that a random positive row has a higher score than a random other row,
	// with ties counting half. With more than two levels, it is the mean over the levels, each against
	// the rest. It is nil if a level that it needs does not occur.
	AUC *float64 `json:"auc"`
	// LogLoss is the mean of -ln(score of the true level), in nats. Scores are clipped to [1e-15, 1 -
	// 1e-15], so that a single certain mistake does not make it infinite.
	LogLoss float64 `json:"log_loss"`
	// CalibrationError is the expected calibration error over ten bins of equal width: the distance in
	// a row's bin between the mean score and the observed share, averaged over rows. With two levels,
	// the scores are those of the positive level and the share is that of positive rows. With more,
	// the score is each row's highest, and the share is that of correct predictions.
	CalibrationError float64 `json:"calibration_error"`
	// Calibration holds those ten bins.
	Calibration []Bin     `json:"calibration"`
	Confusion   Confusion `json:"confusion"`
	// Majority is the level with the most rows. MajorityAccuracy is the accuracy of always predicting
	// it: the baseline of a model that learnt nothing.
	Majority         string  `json:"majority"`
	MajorityAccuracy float64 `json:"majority_accuracy"`
	// Unpredicted lists the levels that are predicted for no row.
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

// Evaluate compares scores with truth, which holds codes of the K levels. If there are two levels,
// scores has one number in [0, 1] per row: the score of the level coded positive, which is predicted
// from threshold on. Otherwise scores is n×K row-major, positive and threshold are not used, and the highest score, the
// first of equal ones, is the prediction. Time is O(n K log n).
func Evaluate(truth []uint8, scores []float64, levels []string, positive int, threshold float64) (*Report, error) {
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
