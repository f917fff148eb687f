// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

func newFig9() *frame.Figure {
	return invented.newHits("9",
		"The hitting rates increase with ε; from ε = 3 on PM finds one of the three best attributes in almost all runs.",
		func(s *frame.Summary) []frame.Check {
			st := s.Mean(pm.name, 3*dp.Nano, top3)
			return []frame.Check{
				checkGrowth(s, pm), checkGrowth(s, duchi),
				{What: "PM: top-3 rate at ε = 3", Paper: "almost 100 % (read as: at least 95 %)", Ours: formatRate(st),
					Parts: []frame.Part{frame.Above(st, 0.95)}},
			}
		})
}
