// SPDX-License-Identifier: Apache-2.0

// Package examples embeds the schemas that ship with discreet, so that the binary always has them.
package examples

import (
	"embed"
	"fmt"
)

//go:embed *.yaml
var files embed.FS

// Schema returns the text of a shipped schema by its file name, e.g. "adult.yaml", for
// discreet.ParseSchema.
func Schema(name string) ([]byte, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	return text, nil
}
