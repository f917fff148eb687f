// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"cmp"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// Scorer evaluates many thresholds of one space for rows of coded columns. It is read-only after
// NewScorer and safe for concurrent use.
//
// Each threshold has a 32-bit lane, and 32 lanes form a block. A lane holds its score plus 2^31, so
// that its top bit is the answer. 2^S is added to each stored contribution, and the lane starts lower
// to compensate. All addends are therefore non-negative and no lane carries into its neighbour.
//
// The upper halves of a block's lanes, four per 64-bit word, are added first. The lower halves would
// carry at most one per addend into them. If that cannot change an answer, the lower halves are not
// read.
type Scorer struct {
	sp    *Space
	cs    []Threshold
	start []uint64 // blockWords words per block
	upper []upper  // one per block
}

const (
	blockLanes = 32
	blockWords = blockLanes / 2 // lanes 2w and 2w+1 are the low and the high half of word w
)

// upper holds the upper halves of a block's lanes. Word w holds those of lanes w, w+8, w+16 and w+24,
// from its low end.
type upper [blockLanes / 4]uint64

// NewScorer prepares the thresholds cs of space sp.
func NewScorer(sp *Space, cs []Threshold) *Scorer {
	s := &Scorer{sp: sp, cs: cs}
	s.start = make([]uint64, s.blockCount()*blockWords)
	lift := int64(len(sp.Columns)) << sp.fixedBits()
	for t, c := range cs {
		s.start[t/2] |= uint64(int64(sp.Fixed(c.Bias, 1))+1<<31-lift) << (32 * (t & 1))
	}
	s.upper = upperHalves(s.start)
	return s
}

// upperHalves returns the upper halves of the lanes of some blocks.
func upperHalves(lanes []uint64) []upper {
	out := make([]upper, len(lanes)/blockWords)
	for i, word := range lanes {
		u := &out[i/blockWords]
		for half := range 2 {
			t := 2*(i%blockWords) + half
			u[t%len(u)] |= word >> (32*half + 16) & 0xffff << (16 * (t / len(u)))
		}
	}
	return out
}

// Words returns the number of 64-bit words that Answers writes per row.
func (s *Scorer) Words() int { return (len(s.cs) + 63) / 64 }

func (s *Scorer) blockCount() int { return (len(s.cs) + blockLanes - 1) / blockLanes }

// Prepared is a Scorer bound to the columns of one table.
type Prepared struct {
	s      *Scorer
	joints []joint
	flat   []uint64 // the tables of all joints, blocks·blockWords words per entry
	upper  []upper  // the upper halves of flat
}

// joint is a set of columns that are looked up as one: its table has an entry for every combination of
// their codes.
type joint struct {
	cols  []*column.Codes
	sizes []uint32
	base  uint32 // of its first entry in flat
}

// jointEntries bounds a joint table of several columns, so that tables fit into the processor's
// caches.
const jointEntries = 1 << 10

// Bind tabulates the contribution of every code of cols, which is parallel to
// the schema's Columns. Memory: 192 bytes per code and block of 32 thresholds.
func (s *Scorer) Bind(cols []column.Column) *Prepared {
	p := &Prepared{s: s}
	ks := make([]int, len(s.sp.Columns))
	for k := range ks {
		ks[k] = k
	}
	size := func(k int) int { return s.sp.Codes(k, &cols[s.sp.Columns[k]]) }
	slices.SortStableFunc(ks, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	var joints [][]int
	var entries []int
	for _, k := range ks { // the largest first, each into the first joint that has room
		// Few rows do not pay for a table of combinations.
		limit := min(jointEntries, cols[s.sp.Columns[k]].Codes.Len()/16)
		at := slices.IndexFunc(entries, func(n int) bool { return n*size(k) <= limit })
		if at < 0 {
			at, joints, entries = len(joints), append(joints, nil), append(entries, 1)
		}
		joints[at] = append(joints[at], k)
		entries[at] *= size(k)
	}
	for i := range joints {
		p.tabulateJoint(cols, joints[i], entries[i])
	}
	p.upper = upperHalves(p.flat)
	return p
}

// tabulateJoint appends the joint table of the columns ks of the space.
func (p *Prepared) tabulateJoint(cols []column.Column, ks []int, entries int) {
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

// batchRows is the number of rows that are scored between two reads of codes.
const batchRows = 256

// Answers writes, for rows from, from+1, ..., the packed answers of every threshold: bit t%64 of word
// t/64 is set if threshold t answers positive. len(out) is rows × Words().
func (p *Prepared) Answers(from int, out []uint64) {
	s := p.s
	blocks, words := s.blockCount(), s.Words()
	rows := len(out) / words
	offsets := make([]uint32, batchRows*len(p.joints)) // row by row
	place, bits := make([]uint32, batchRows), make([]uint32, batchRows)
	for at := 0; at < rows; at += batchRows {
		m := min(batchRows, rows-at)
		for k := range p.joints {
			p.joints[k].writeOffsets(from+at, place[:m], uint32(blocks))
			for i, o := range place[:m] {
				offsets[i*len(p.joints)+k] = o
			}
		}
		batch := out[at*words:][:m*words]
		clear(batch)
		for b := range blocks {
			p.answerBlock(offsets, b, bits[:m])
			for i, x := range bits[:m] {
				batch[i*words+b/2] |= uint64(x) << (32 * (b & 1))
			}
		}
	}
}

// writeOffsets writes the position of each row's entry in flat, counted in blocks.
func (j *joint) writeOffsets(from int, out []uint32, blocks uint32) {
	clear(out)
	for k := range j.cols {
		j.cols[k].Mix(from, j.sizes[k], out)
	}
	for i := range out {
		out[i] = j.base + out[i]*blocks
	}
}

// answerBlock sets bit t of bits[i] if lane t of block b of row i answers positive.
func (p *Prepared) answerBlock(offsets []uint32, b int, bits []uint32) {
	// without columns there is no table
	start, table, joints := &p.s.upper[b], p.upper[min(b, len(p.upper)):], len(p.joints)
	carry := uint64(joints) * 0x0001000100010001 // at most
	for i := range bits {
		row := offsets[i*joints:][:joints]
		// Four words at a time stay in registers.
		w0, w1, w2, w3 := start[0], start[1], start[2], start[3]
		for _, o := range row {
			e := &table[o]
			w0 += e[0]
			w1 += e[1]
			w2 += e[2]
			w3 += e[3]
		}
		x := (w0&tops)>>7 | (w1&tops)>>6 | (w2&tops)>>5 | (w3&tops)>>4
		doubt := (w0 ^ (w0 + carry)) | (w1 ^ (w1 + carry)) | (w2 ^ (w2 + carry)) | (w3 ^ (w3 + carry))
		w0, w1, w2, w3 = start[4], start[5], start[6], start[7]
		for _, o := range row {
			e := &table[o]
			w0 += e[4]
			w1 += e[5]
			w2 += e[6]
			w3 += e[7]
		}
		x |= (w0&tops)>>3 | (w1&tops)>>2 | (w2&tops)>>1 | w3&tops
		doubt |= (w0 ^ (w0 + carry)) | (w1 ^ (w1 + carry)) | (w2 ^ (w2 + carry)) | (w3 ^ (w3 + carry))
		if doubt&tops != 0 {
			bits[i] = p.answerRow(row, b)
			continue
		}
		// The answers of lanes 8s..8s+7 are bits 16s+8..16s+15.
		x = x >> 8 & 0x00ff00ff00ff00ff
		x = (x | x>>8) & 0x0000ffff0000ffff
		bits[i] = uint32(x | x>>16)
	}
}

// tops selects the top bits of the upper halves in a word.
const tops = 0x8000800080008000

// answerRow evaluates one row by whole lanes.
func (p *Prepared) answerRow(offsets []uint32, b int) (answers uint32) {
	lanes := ([blockWords]uint64)(p.s.start[b*blockWords:])
	for _, o := range offsets {
		for w, add := range (*[blockWords]uint64)(p.flat[(int(o)+b)*blockWords:]) {
			lanes[w] += add
		}
	}
	for w, word := range lanes {
		answers |= uint32(word>>31&1|word>>62&2) << (2 * w)
	}
	return answers
}
