// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"cmp"
	"slices"

	"github.com/discreet-dp/discreet/column"
)

// Scorer answers many thresholds of one space for rows of coded columns. It is
// read-only after NewScorer, so goroutines may share it.
//
// Each threshold has a 32-bit lane, 32 lanes are a block. A lane holds its
// score plus 2^31, so that its top bit is the answer. Contributions are stored
// plus 2^S and the lane starts that much lower: all addends are then
// non-negative and no lane ever carries into its neighbour, whether two lanes
// are added as one 64-bit word or sixteen as one vector.
type Scorer struct {
	sp    *Space
	cs    []Threshold
	start []uint64 // blockWords per block
}

const (
	blockLanes = 32
	blockWords = blockLanes / 2
)

// NewScorer prepares the thresholds cs of space sp.
func NewScorer(sp *Space, cs []Threshold) *Scorer {
	s := &Scorer{sp: sp, cs: cs}
	s.start = make([]uint64, s.blocks()*blockWords)
	lift := int64(len(sp.Columns)) << sp.fixedBits()
	for t, c := range cs {
		s.start[t/2] |= uint64(int64(sp.Fixed(c.Bias, 1))+1<<31-lift) << (32 * (t & 1))
	}
	return s
}

// Words is the number of 64-bit words Answers writes per row.
func (s *Scorer) Words() int { return (len(s.cs) + 63) / 64 }

func (s *Scorer) blocks() int { return (len(s.cs) + blockLanes - 1) / blockLanes }

// Prepared is a Scorer bound to the columns of one table.
type Prepared struct {
	s      *Scorer
	joints []joint
	flat   []uint64 // the tables of all joints, blocks·blockWords words per entry
}

// joint is some columns looked up as one: its table has an entry for every
// combination of their codes.
type joint struct {
	cols  []*column.Codes
	sizes []uint32
	base  uint32 // of its first entry in flat
}

// jointEntries bounds a joint table of several columns, so that tables stay in
// the processor's caches.
const jointEntries = 1 << 10

// Bind tabulates the contribution of every code of cols, which is parallel to
// the schema's Columns. Memory: 128 bytes per code and block of 32 thresholds.
func (s *Scorer) Bind(cols []column.Column) *Prepared {
	p := &Prepared{s: s}
	ks := make([]int, len(s.sp.Columns))
	for k := range ks {
		ks[k] = k
	}
	size := func(k int) int { return s.sp.Codes(k, &cols[s.sp.Columns[k]]) }
	slices.SortStableFunc(ks, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	for len(ks) > 0 {
		// Few rows do not pay for a table of combinations.
		n, entries := 1, size(ks[0])
		limit := min(jointEntries, cols[s.sp.Columns[ks[0]]].Codes.Len()/16)
		for n < len(ks) && entries*size(ks[n]) <= limit {
			entries *= size(ks[n])
			n++
		}
		p.tabulate(cols, ks[:n], entries)
		ks = ks[n:]
	}
	return p
}

// tabulate appends the joint table of the columns ks of the space.
func (p *Prepared) tabulate(cols []column.Column, ks []int, entries int) {
	s, stride := p.s, len(p.s.start)
	j := joint{base: uint32(len(p.flat) / blockWords)}
	table := make([]uint64, entries*stride)
	lift := int64(len(ks)) << s.sp.fixedBits()
	for t := range s.cs {
		for e := range entries {
			table[e*stride+t/2] |= uint64(lift) << (32 * (t & 1))
		}
	}
	every := 1 // entries between two codes of this column; the last column varies fastest
	for at := len(ks) - 1; at >= 0; at-- {
		col := &cols[s.sp.Columns[ks[at]]]
		size := s.sp.Codes(ks[at], col)
		for code := range size {
			f, v := s.sp.Cell(ks[at], col, code)
			for t := range s.cs {
				add := uint64(int64(s.sp.Fixed(s.cs[t].Coef[f], v))) << (32 * (t & 1))
				for e := code * every; e < entries; e += size * every {
					for i := range every {
						table[(e+i)*stride+t/2] += add
					}
				}
			}
		}
		every *= size
	}
	for _, k := range ks {
		col := &cols[s.sp.Columns[k]]
		j.cols = append(j.cols, &col.Codes)
		j.sizes = append(j.sizes, uint32(s.sp.Codes(k, col)))
	}
	p.joints = append(p.joints, j)
	p.flat = append(p.flat, table...)
}

// batchRows is how many rows are scored between two reads of codes.
const batchRows = 256

// Answers writes, for rows from, from+1, ..., the packed answers of every
// threshold: bit t%64 of word t/64 is set where threshold t answers positive.
// len(out) is rows × Words().
func (p *Prepared) Answers(from int, out []uint64) {
	s := p.s
	blocks, words := s.blocks(), s.Words()
	rows := len(out) / words
	offsets := make([]uint32, len(p.joints)*batchRows)
	codes := make([]uint32, batchRows)
	bits := make([]uint32, batchRows)
	for at := 0; at < rows; at += batchRows {
		m := min(batchRows, rows-at)
		for k := range p.joints {
			p.joints[k].offsets(from+at, offsets[k*batchRows:][:m], codes[:m], uint32(blocks))
		}
		batch := out[at*words:][:m*words]
		clear(batch)
		for b := range blocks {
			lanes := min(blockLanes, len(s.cs)-b*blockLanes)
			score(bits[:m], p.flat, s.start[b*blockWords:][:blockWords], offsets, len(p.joints), b, lanes)
			for i, x := range bits[:m] {
				batch[i*words+b/2] |= uint64(x) << (32 * (b & 1))
			}
		}
	}
}

// offsets writes the place of each row's entry in flat, counted in blocks.
func (j *joint) offsets(from int, out, codes []uint32, blocks uint32) {
	j.cols[0].Read(from, out)
	for k := 1; k < len(j.cols); k++ {
		j.cols[k].Read(from, codes)
		for i, c := range codes {
			out[i] = out[i]*j.sizes[k] + c
		}
	}
	for i := range out {
		out[i] = j.base + out[i]*blocks
	}
}

// scoreWords is score (see score_*.go) in portable arithmetic: two lanes per
// 64-bit word. bits[i] gets bit t set where lane t of row i answers positive.
func scoreWords(bits []uint32, flat, start []uint64, offsets []uint32, joints, block, lanes int) {
	words := (lanes + 1) / 2
	for i := range bits {
		var acc [blockWords]uint64
		copy(acc[:], start)
		for k := range joints {
			entry := (*[blockWords]uint64)(flat[(int(offsets[k*batchRows+i])+block)*blockWords:])
			for w := 0; w < words; w++ {
				acc[w] += entry[w]
			}
		}
		x := uint32(0)
		for w := 0; w < words; w++ {
			x |= uint32(acc[w]>>31&1|acc[w]>>62&2) << (2 * w)
		}
		bits[i] = x
	}
}
