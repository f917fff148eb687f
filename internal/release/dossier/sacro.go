// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/release/card"
)

// attack is the part of an attack's JSON that is used.
type attack struct {
	Runs   int
	Taught int
	Kinds  []struct {
		Name  string
		Ratio struct {
			AUC, Advantage figure
			Points         []struct{ TPR figure }
		} `json:"likelihood_ratio"`
	}
}

type figure struct{ Value float64 }

// Rates are the false positive rates at which an attack reports points, in order.
var Rates = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5}

// writeSacro writes an attack's report in the form of SACRO-ML's reports: one experiment, one instance
// for each kind of target. It omits numbers that the attack does not measure.
func writeSacro(c *card.Card, report []byte) ([]byte, error) {
	var a attack
	if err := json.Unmarshal(report, &a); err != nil || len(a.Kinds) == 0 {
		return nil, dp.Refuse("release", "attack", "must be the report of an attack, in JSON", nil)
	}
	instances := map[string]any{}
	for i, k := range a.Kinds {
		one := map[string]any{"targets": k.Name, "AUC": k.Ratio.AUC.Value, "Advantage": k.Ratio.Advantage.Value,
			"ACC": (1 + k.Ratio.Advantage.Value) / 2} // as many members as others
		for j, p := range k.Ratio.Points {
			if j < len(Rates) {
				one[fmt.Sprintf("TPR@%g%%", 100*Rates[j])] = p.TPR.Value
			}
		}
		instances[fmt.Sprintf("instance_%d", i)] = one
	}
	text, err := json.MarshalIndent(map[string]any{"LiRA Attack_" + c.Checksum[:16]: map[string]any{
		"log_id": c.Checksum[:16],
		"metadata": map[string]any{"attack_name": "LiRA Attack", "global_metrics": map[string]any{},
			"attack_params": map[string]any{"n_shadow_models": a.Taught, "measured_trainings": a.Runs}, "target_model": c.Learner,
			"target_model_params": map[string]any{"epsilon": c.Epsilon, "delta": c.Delta}},
		"attack_experiment_logger": map[string]any{"attack_instance_logger": instances},
	}}, "", "  ")
	return append(text, '\n'), err
}
