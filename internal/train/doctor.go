// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"os"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Examine checks what an engine needs on this machine and, for EngineSpark, in cl. It calls note for
// each requirement with what is missing, "" if nothing is. It reads no table.
func Examine(ctx context.Context, engine string, cl Cluster, note func(what, found, want string)) error {
	if engine != EngineSpark && engine != EngineMemory && engine != EngineDisk {
		return &dp.ParamError{Op: "doctor", Param: "engine", Want: "must be memory, disk or spark", Got: strconv.Quote(engine)}
	}
	if err := checkCluster("doctor", engine, cl); err != nil {
		return err
	}
	switch engine {
	case EngineSpark:
		cl.Examine(ctx, note)
		return nil
	case EngineMemory:
		return nil
	}
	want := "one that can be written to: set TMPDIR"
	if folder, err := os.MkdirTemp("", "discreet-doctor-*"); err == nil && os.Remove(folder) == nil {
		want = ""
	}
	note("folder for temporary files", os.TempDir(), want)
	return nil
}
