// SPDX-License-Identifier: Apache-2.0

//go:build explorer

package serve

import (
	"embed"
	"io/fs"
)

//go:embed engine
var built embed.FS

// BuiltIn is the engine that make explorer-engine wrote here; nil where the program was built without.
func BuiltIn() fs.FS {
	engine, err := fs.Sub(built, "engine")
	if err != nil {
		panic(err) // the name is a constant
	}
	return engine
}
