// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"io"
)

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
