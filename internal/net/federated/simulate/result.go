// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Numbers is the JSON form of a simulation's result.
type Numbers struct {
	Mode       string     `json:"mode"`
	Classifier string     `json:"classifier"`
	Mechanism  string     `json:"mechanism"` // "" if each question uses the more accurate of oue and grr
	Epsilon    dp.Epsilon `json:"epsilon_nano"`
	Owners     int        `json:"owners"`
	Asked      int        `json:"asked"` // number of owners who took part once
	Private    bool       `json:"private"`
	// Rounds are the results of the owners' reports.
	Rounds []Round `json:"rounds"`
	// Reach is the largest change of an estimated share of all records that one dishonest owner could
	// cause.
	Reach float64 `json:"reach"`
}

// Round describes one round: its number, the weighted error with its standard deviation over other
// owners, and the weight of its classifier, 0 if it was dropped.
type Round struct {
	Round    int     `json:"round"`
	Err      float64 `json:"err"`
	ErrNoise float64 `json:"err_noise"`
	Vote     float64 `json:"vote"`
}

// Numbers returns the result for programs.
func (r *Result) Numbers() Numbers {
	n := Numbers{Mode: string(r.params.Mode), Classifier: string(r.params.Classifier), Mechanism: r.params.Mechanism,
		Epsilon: r.params.Epsilon, Owners: r.params.Owners, Asked: r.Asked, Private: true, Reach: r.Reach}
	for _, o := range r.Rounds {
		n.Rounds = append(n.Rounds, Round{o.Round, o.Err, o.ErrNoise, o.Vote})
	}
	return n
}

// WriteText writes the rounds and the model's statement as text for readers.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s, %d owners\n", r.params.Mode, r.params.Owners)
	for _, o := range r.Rounds {
		fmt.Fprintf(&b, "round %d: weighted error %.3f", o.Round, o.Err)
		if o.ErrNoise > 0 {
			fmt.Fprintf(&b, " ± %.3f by other owners, classes counted alike", o.ErrNoise)
		}
		if o.Vote > 0 {
			fmt.Fprintf(&b, ", vote %.3f\n", o.Vote)
		} else {
			fmt.Fprintf(&b, ", dropped\n")
		}
	}
	_, err := fmt.Fprintf(w, "%s\n%s", &b, r.Model.Privacy.Card())
	return err
}
