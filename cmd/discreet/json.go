// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
)

// writeJSON writes v for another program, and for people in a hurry.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
