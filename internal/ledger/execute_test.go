// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"database/sql"
	"database/sql/driver"
	"testing"
)

func execute(t testing.TB, c driver.Connector, text string) {
	t.Helper()
	db := sql.OpenDB(c)
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}
