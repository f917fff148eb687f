// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"io"
	"runtime"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/parallel"
	"github.com/discreet-dp/discreet/internal/table/read/pages"
)

// tallyParquet is tallyFile for a Parquet file. It reads one column at a time, and judges each entry
// of a dictionary once.
func (r *reader) tallyParquet(path string, columns []*tallied, counts []CellCounts) (n int, err error) {
	pf, f, err := openParquet(r.ctx, path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := r.layOut(pf); err != nil {
		return 0, err
	}
	failed := make([]error, len(columns))
	parallel.Each(len(columns), runtime.GOMAXPROCS(0), func(i int) {
		failed[i] = r.tallyColumn(pf, columns[i], &counts[i])
	})
	return int(pf.rows), cmp.Or(failed...)
}

func (r *reader) tallyColumn(pf *parquetFile, c *tallied, n *CellCounts) (err error) {
	defer recoverDamage(pf.path, &err)
	of := &pf.columns[slices.Index(pf.names, c.name)]
	for g := range pf.groups {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		walk := cursor{of: of}
		if walk.chunk, err = pages.NewChunk(pf.section, pf.size, &pf.groups[g], of.Leaf, of.Type); err == nil {
			err = walk.tally(c, r.s.Dialect.Missing, n)
		}
		if err != nil {
			return chunkFault(pf.path, c.name, err)
		}
	}
	return nil
}

// tally counts all cells of the cursor's chunk.
func (walk *cursor) tally(c *tallied, tokens []string, n *CellCounts) (err error) {
	var met []int // how often each entry of the dictionary was
	for {
		if walk.run, err = walk.chunk.NextRun(); err != nil {
			break
		}
		walk.row, walk.value = 0, 0
		if walk.run.Indices == nil {
			var out cell
			for range walk.run.N {
				if err := walk.next(&out); err != nil {
					return err
				}
				n.add(c.fateOf(&out, tokens), 1)
			}
			continue
		}
		if met == nil {
			met = make([]int, walk.chunk.N)
		}
		for _, x := range walk.run.Indices {
			if uint64(x) >= uint64(len(met)) {
				return pages.ErrValues
			}
			met[x]++
		}
		if absent := walk.run.N - len(walk.run.Indices); absent > 0 {
			n.add(c.judgeCell(&cell{}, tokens), absent)
		}
	}
	if err != io.EOF {
		return err
	}
	for x, times := range met {
		if times == 0 {
			continue
		}
		walk.run, walk.row, walk.value = pages.Run{N: 1, Indices: []uint32{uint32(x)}}, 0, 0
		var out cell
		if err := walk.next(&out); err != nil {
			return err
		}
		n.add(c.fateOf(&out, tokens), times)
	}
	return nil
}
