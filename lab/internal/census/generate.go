// SPDX-License-Identifier: Apache-2.0

package census

import (
	"iter"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/parallel"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	// blockRows people share one random stream. Changing it changes the table of every seed.
	blockRows = 1 << 14
	// PartRows is the largest number of rows of a table that Parts yields.
	PartRows = 64 * blockRows
)

// Generate draws a table of rows people with Schema(). A person takes 17 bytes. Equal seeds give equal
// tables, and a shorter table is the beginning of a longer one. It panics if rows is negative.
func Generate(seed uint64, rows int) *dataset.Table {
	checkRows(rows)
	return generateRows(Schema(), seed, 0, rows)
}

// Parts yields the table Generate(seed, rows) as consecutive tables of PartRows rows (the last may be
// shorter), for tables that do not fit into memory. They share one schema. The caller may retain each
// table. It panics if rows is negative.
func Parts(seed uint64, rows int) iter.Seq[*dataset.Table] {
	checkRows(rows)
	return func(yield func(*dataset.Table) bool) {
		s := Schema()
		for from := 0; from < rows; from += PartRows {
			if !yield(generateRows(s, seed, from, min(PartRows, rows-from))) {
				return
			}
		}
	}
}

func checkRows(rows int) {
	if rows < 0 {
		panic("census: rows must be at least 0")
	}
}

// generateRows draws rows people, starting with the person first, a multiple of blockRows.
func generateRows(s *schema.Schema, seed uint64, first, rows int) *dataset.Table {
	m := sharedWorld()
	t := &dataset.Table{Schema: s, Rows: rows, Cols: make([]column.Column, columns), Labels: make([]uint8, rows)}
	for j := range t.Cols {
		t.Cols[j].Values = m.values[j]
		if len(m.values[j]) > 1<<8 {
			t.Cols[j].Codes.U16 = make([]uint16, rows)
		} else {
			t.Cols[j].Codes.U8 = make([]uint8, rows)
		}
	}
	parallel.Each((rows+blockRows-1)/blockRows, runtime.GOMAXPROCS(0), func(k int) {
		var st stream
		from := k * blockRows
		st.openBlock(seed, uint64((first+from)/blockRows))
		m.fillRows(t, from, min(from+blockRows, rows), &st)
	})
	return t
}

// world holds everything that is fixed: probabilities, the score and number dictionaries.
type world struct {
	laws   *laws
	score  *score
	shift  [nRegion][nSettlement]int // of the sampling weight
	values [columns][]float64        // the values of a number column's codes
}

var sharedWorld = sync.OnceValue(func() *world {
	m := &world{laws: newLaws(), score: newScore()}
	for r := range nRegion {
		for p := range nSettlement {
			m.shift[r][p] = 40*r + 150*p
		}
	}
	m.values[colAge] = spanSteps(minAge, maxAge, 1)
	m.values[colHousehold] = spanSteps(1, maxHousehold, 1)
	m.values[colHours] = spanSteps(0, maxHours, 1)
	m.values[colTenure] = spanSteps(0, maxTenure, 1)
	m.values[colWeight] = spanSteps(minWeight, minWeight+weightStep*(weightSteps-1), weightStep)
	m.values[colCapital] = []float64{0}
	for k := range capitalSteps - 1 {
		amount := minCapital * math.Pow(float64(maxCapital)/minCapital, float64(k)/(capitalSteps-2))
		m.values[colCapital] = append(m.values[colCapital], math.Round(amount))
	}
	return m
})

func spanSteps(from, to, step int) (out []float64) {
	for x := from; x <= to; x += step {
		out = append(out, float64(x))
	}
	return out
}

// fillRows draws the people from..to-1, causes before effects.
func (m *world) fillRows(t *dataset.Table, from, to int, st *stream) {
	var (
		age, sex, region = t.Cols[colAge].Codes.U8, t.Cols[colSex].Codes.U8, t.Cols[colRegion].Codes.U8
		settlement       = t.Cols[colSettlement].Codes.U8
		origin           = t.Cols[colOrigin].Codes.U8
		education        = t.Cols[colEducation].Codes.U8
		workClass        = t.Cols[colWorkClass].Codes.U8
		occupation       = t.Cols[colOccupation].Codes.U8
		marital          = t.Cols[colMarital].Codes.U8
		household        = t.Cols[colHousehold].Codes.U8
		hours            = t.Cols[colHours].Codes.U8
		tenure           = t.Cols[colTenure].Codes.U8
		capital          = t.Cols[colCapital].Codes.U16
		weight           = t.Cols[colWeight].Codes.U16
		noWorkAnswer     = uint8(t.Schema.Columns[colWorkClass].MissingCode())
		noJobAnswer      = uint8(t.Schema.Columns[colOccupation].MissingCode())
	)
	l, sc := m.laws, m.score
	for i := from; i < to; i++ {
		r := l.region.drawOutcome(st.nextWord())
		p := l.settlement[r].drawOutcome(st.nextWord())
		o := l.origin[p].drawOutcome(st.nextWord())
		a := minAge + l.age[o].drawOutcome(st.nextWord())
		b := int(l.band[a])
		s := l.sex[b].drawOutcome(st.nextWord())
		e := l.education[b][s][p][o].drawOutcome(st.nextWord())
		w := l.work[b][s][e].drawOutcome(st.nextWord())
		j := l.job[e][s][w].drawOutcome(st.nextWord())
		ms := l.marital[b][s].drawOutcome(st.nextWord())
		size := 1 + l.household[ms][b].drawOutcome(st.nextWord())
		h := l.hours[j][s][b].drawOutcome(st.nextWord())
		y := 0
		if w != notWorking {
			// The product of two uniforms: many have just begun, few stayed on.
			y = st.drawBelow(st.drawBelow(min(a-minAge, maxTenure)+1) + 1)
		}
		k := l.capital[b][e][w].drawOutcome(st.nextWord())

		points := sc.career[e][a] + sc.job[j][h] + sc.work[w] + sc.family[s][ms][size] +
			sc.place[r][p] + sc.degree[o][e] + sc.tenure[y] + sc.wealth[k]
		t.Labels[i] = 0
		if st.nextWord() < sc.chanceOf(points) {
			t.Labels[i] = 1
		}

		age[i], sex[i], region[i], settlement[i], origin[i] = uint8(a-minAge), uint8(s), uint8(r), uint8(p), uint8(o)
		education[i], workClass[i], occupation[i] = uint8(e), uint8(w), uint8(j)
		if st.nextWord() < notAnswering {
			workClass[i], occupation[i] = noWorkAnswer, noJobAnswer
		}
		marital[i], household[i], hours[i], tenure[i] = uint8(ms), uint8(size-1), uint8(h), uint8(y)
		capital[i] = uint16(k)
		// A product of uniforms: skewed, as weights of surveys are.
		word := st.nextWord()
		skew := (word & 0xffff) * (word >> 16) >> 16 // 0..65534
		weight[i] = uint16(m.shift[r][p] + int(skew*3200>>16))
	}
}
