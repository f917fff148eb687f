// SPDX-License-Identifier: Apache-2.0

//go:build explorer

package serve

import (
	"embed"
	"io/fs"
)

//go:embed engine
var built embed.FS

// BuiltIn returns the engine that make explorer-engine wrote here; nil if the program was built
// without it.
func BuiltIn() fs.FS {
	engine, err := fs.Sub(built, "engine")
	if err != nil {
		panic(err) // the name is a constant
	}
	return engine
}
