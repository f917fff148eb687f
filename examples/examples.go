// SPDX-License-Identifier: Apache-2.0

// Package examples carries the schemas that ship with discreet, so that the
// binary has them wherever it runs.
package examples

import (
	"embed"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

//go:embed *.yaml
var files embed.FS

// Schema returns a shipped schema by its file name, e.g. "adult.yaml".
func Schema(name string) (*schema.Schema, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("examples: %s: %w", name, err)
	}
	return s, nil
}
