// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

func newFig8() *frame.Figure {
	return fourNine.newHits("8", "The hitting rates increase with ε; at ε = 5 PM finds one of the three best "+
		"attributes in about 80 % of runs and the best in about 40 %.",
		func(s *frame.Summary) []frame.Check {
			return []frame.Check{
				checkGrowth(s, pm), checkGrowth(s, duchi),
				checkNear(s, pm, 5*dp.Nano, top3, "top-3", 0.8),
				checkNear(s, pm, 5*dp.Nano, top1, "top-1", 0.4),
			}
		})
}
