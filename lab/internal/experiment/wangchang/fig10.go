// SPDX-License-Identifier: Apache-2.0

package wangchang

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func fig10() *frame.Figure { return fourNine.boosts("10") }
