// SPDX-License-Identifier: Apache-2.0

// Package commands is what the programs' commands share: the flags that name a learner and its
// price, a table, and the budget to charge, and the commands about learners themselves.
package commands

import (
	"time"

	"github.com/discreet-dp/discreet/internal/cli"
)

// App adds the shared commands to what every command knows.
type App struct{ *cli.App }

// Clock is what services and deadlines go by. Tests put another one in its place.
var Clock = time.Now
