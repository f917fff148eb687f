// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Loss is the measure by which held-out rows evaluate a model. One row changes it by at most one.
type Loss string

const (
	// LogLoss is the sum of −log₂ of the true class's score, in units of 8 bits, with at most 8 bits
	// per row. It is a proper score for probabilities from 1/256 to 255/256.
	LogLoss Loss = "log-loss"
	// AUC is the number of pairs of a positive and a negative row that scores order wrongly, with ties
	// counting half, divided by the number of rows. It exists for two classes only.
	AUC Loss = "auc"
	// Mistakes is the number of rows whose class is predicted wrongly. If one class is rare, all
	// models may predict the other.
	Mistakes Loss = "mistakes"
)

// Losses lists all losses.
func Losses() []Loss { return []Loss{LogLoss, AUC, Mistakes} }

// judgeModel returns the loss of m on the evaluation rows. A row's score depends on that row alone, so
// one row changes the loss by at most one.
func (p *parts) judgeModel(m *model.Model, by Loss) (mech.Ratio, error) {
	b, err := m.Bind(p.judge.Schema)
	if err != nil {
		return mech.Ratio{}, err
	}
	scores, err := b.Scores(p.judge.Cols, p.judge.Rows)
	if err != nil {
		return mech.Ratio{}, err
	}
	switch by {
	case LogLoss:
		return sumLogLosses(scores, p.judge.Labels, &p.judge.Schema.Label), nil
	case AUC:
		return countWrongPairs(scores, p.judge.Labels, p.judge.Schema.Label.Positive), nil
	}
	return countMistakes(m.Labels(scores), p.judge.Labels), nil
}

// lossSteps is the number of steps to which a row's loss is rounded, so that sums are exact.
const lossSteps = 1 << 16

// sumLogLosses adds the rows' losses.
func sumLogLosses(scores []float64, labels []uint8, label *schema.Label) mech.Ratio {
	k, sum := len(label.Levels), int64(0)
	for i, l := range labels {
		switch {
		case k > 2:
			sum += stepsOfLoss(scores[i*k+int(l)])
		case int(l) == label.Positive:
			sum += stepsOfLoss(scores[i])
		default:
			sum += stepsOfLoss(1 - scores[i])
		}
	}
	return mech.Ratio{Num: sum, Den: lossSteps}
}

// stepsOfLoss returns the loss of a row whose true class has score p, from 0 to lossSteps (1.8).
func stepsOfLoss(p float64) int64 {
	const bits = 8
	if !(p > 1.0/(1<<bits)) { // so that NaN has the greatest loss
		return lossSteps
	}
	return int64(math.Round(max(0, -math.Log2(p)) * (lossSteps / bits)))
}

// countWrongPairs counts, in halves, the pairs of a positive and another row that the scores order
// wrongly (2) or tie (1). A row is in fewer pairs than there are rows (1.9).
func countWrongPairs(scores []float64, labels []uint8, positive int) mech.Ratio {
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var halves, below int64 // positive rows so far
	for from := 0; from < len(order); {
		to, hits := from, int64(0)
		for ; to < len(order) && cmp.Compare(scores[order[to]], scores[order[from]]) == 0; to++ {
			if int(labels[order[to]]) == positive {
				hits++
			}
		}
		halves += (int64(to-from) - hits) * (2*below + hits)
		below += hits
		from = to
	}
	return mech.Ratio{Num: halves, Den: 2 * max(1, int64(len(labels)))}
}

// countMistakes counts the wrongly predicted rows.
func countMistakes(predicted, labels []uint8) mech.Ratio {
	wrong := int64(0)
	for i, l := range predicted {
		if l != labels[i] {
			wrong++
		}
	}
	return mech.Ratio{Num: wrong, Den: 1}
}
