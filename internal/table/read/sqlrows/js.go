// SPDX-License-Identifier: Apache-2.0

//go:build js

package sqlrows

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

func openPostgres(_ context.Context, server string, _ []string) (*Table, error) {
	return nil, sqldb.CheckPostgres(server, op)
}

func locatePostgres(_ context.Context, server string, _ []string) ([]string, error) {
	return nil, sqldb.CheckPostgres(server, op)
}
