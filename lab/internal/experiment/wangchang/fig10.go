// SPDX-License-Identifier: Apache-2.0

package wangchang

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig10() *frame.Figure { return fourNine.newBoosts("10") }
