// SPDX-License-Identifier: Apache-2.0

package wangchang

import "github.com/discreet-dp/discreet/lab/internal/experiment/frame"

func fig11() *frame.Figure { return invented.boosts("11") }
