// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"os"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/spark"
)

// Examine checks what an engine needs on this machine and, for EngineSpark, in a cluster. It calls
// note for each requirement with what is missing, "" if nothing is. It reads no table.
func Examine(ctx context.Context, engine, submit, master string, note func(what, found, want string)) error {
	refuse := func(want string) error {
		return &dp.ParamError{Op: "doctor", Param: "engine", Want: want, Got: strconv.Quote(engine)}
	}
	switch {
	case engine == EngineSpark:
		spark.Examine(ctx, spark.Options{Submit: submit, Master: master}, note)
		return nil
	case engine != EngineMemory && engine != EngineDisk:
		return refuse("must be memory, disk or spark")
	case submit+master != "":
		return refuse("must be spark if a cluster is given")
	case engine == EngineMemory:
		return nil
	}
	want := "one that can be written to: set TMPDIR"
	if folder, err := os.MkdirTemp("", "discreet-doctor-*"); err == nil && os.Remove(folder) == nil {
		want = ""
	}
	note("folder for temporary files", os.TempDir(), want)
	return nil
}
