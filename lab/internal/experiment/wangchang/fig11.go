// SPDX-License-Identifier: Apache-2.0

package wangchang

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func newFig11() *frame.Figure { return invented.newBoosts("11") }
