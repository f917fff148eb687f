// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/read/pages"
)

// DecodeParquet unpacks and decodes every column of a file on all processors and codes nothing. It
// returns how many rows the file has.
func DecodeParquet(path string) (rows int64, err error) {
	pf, f, err := openParquet(context.Background(), path)
	if err != nil {
		return 0, err
	}
	errs := make([]error, len(pf.columns))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for at := int(next.Add(1) - 1); at < len(errs); at = int(next.Add(1) - 1) {
				errs[at] = decodeColumn(pf, at)
			}
		})
	}
	workers.Wait()
	return pf.rows, errors.Join(errors.Join(errs...), f.Close())
}

func decodeColumn(pf *parquetFile, at int) error {
	of := &pf.columns[at]
	if of.Type.Meaning == pages.Unsupported {
		return fmt.Errorf("column %d has no cells", at)
	}
	for g := range pf.groups {
		c, err := pages.NewChunk(pf.section, pf.size, &pf.groups[g], of.Leaf, of.Type)
		for err == nil {
			_, err = c.NextRun()
		}
		if err != io.EOF {
			return err
		}
	}
	return nil
}
