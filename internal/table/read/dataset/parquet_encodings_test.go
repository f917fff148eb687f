// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// encodedRow is a row of smallSchema of which a writer encodes each column as it is told.
type encodedRow struct {
	Age    *float64 `parquet:"age,optional"`
	Income *int64   `parquet:"income,optional"`
	City   *string  `parquet:"city,optional"`
	Rank   *int32   `parquet:"rank,optional"`
	Note   *float32 `parquet:"note,optional"`
	Sick   *bool    `parquet:"sick,optional"`
}

// encodedRows are n rows of which every other stretch of 200 holds nulls alone, so that there are
// pages without a value.
func encodedRows(n int) []encodedRow {
	random := rand.New(rand.NewPCG(3, 4))
	rows := make([]encodedRow, n)
	city := ""
	for i, r := range randomRows(n) {
		if i/200%2 == 1 {
			continue
		}
		switch random.IntN(4) {
		case 0: // a prefix of the cell before
			city = city[:random.IntN(len(city)+1)]
		case 1:
			city += strings.Repeat("x", random.IntN(40))
		case 2: // the cell before
		default:
			city = []string{"Rome", "Oslo", "Kristiania", ""}[random.IntN(4)]
		}
		text, rank, note := city, r.Rank, float32(i)
		if i%7 == 0 {
			rank = int32(random.Uint32())
		}
		sick := r.Sick || i/50%3 == 0 // stretches of one value are runs
		rows[i] = encodedRow{r.Age, r.Income, &text, &rank, &note, &sick}
		if i%11 == 0 {
			x := int64(random.Uint64())
			rows[i].Income = &x
		}
	}
	return rows
}

// A writer picks an encoding by what the cells hold: those of DuckDB, Java and Rust leave a
// dictionary that has grown too large for whichever encoding is listed here. It decides nothing.
func TestEncodingsReadAlike(t *testing.T) {
	rows := encodedRows(3000)
	s := smallSchema()
	s.Label.Default = 0
	want, err := Read(t.Context(), s, Options{}, writeParquet(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		kind     parquet.Kind
		encoding encoding.Encoding
	}{
		{parquet.Boolean, &parquet.RLE},
		{parquet.Int32, &parquet.RLEDictionary}, {parquet.Int32, &parquet.DeltaBinaryPacked},
		{parquet.Int32, &parquet.ByteStreamSplit},
		{parquet.Int64, &parquet.RLEDictionary}, {parquet.Int64, &parquet.DeltaBinaryPacked},
		{parquet.Int64, &parquet.ByteStreamSplit},
		{parquet.Double, &parquet.RLEDictionary}, {parquet.Double, &parquet.ByteStreamSplit},
		{parquet.Float, &parquet.ByteStreamSplit},
		{parquet.ByteArray, &parquet.RLEDictionary}, {parquet.ByteArray, &parquet.DeltaLengthByteArray},
		{parquet.ByteArray, &parquet.DeltaByteArray},
	} {
		for _, version := range []int{1, 2} {
			for _, page := range []int{300, 1 << 20} {
				path := writeParquet(t, rows, parquet.DefaultEncodingFor(of.kind, of.encoding),
					parquet.DataPageVersion(version), parquet.PageBufferSize(page), parquet.Compression(&parquet.Snappy))
				got, err := Read(t.Context(), s, Options{}, path)
				if err != nil {
					t.Errorf("%v in %v, pages v%d of %d bytes: %v", of.kind, of.encoding, version, page, err)
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("%v in %v, pages v%d of %d bytes: another table than from PLAIN", of.kind, of.encoding, version,
						page)
				}
			}
		}
	}
}

// mostJoined is the room that package pages takes for cells that share prefixes.
const mostJoined = 16 << 20

// A prefix can be repeated at no cost: a correct writer makes such a file of long cells that are almost alike.
func TestPrefixBombOfAFile(t *testing.T) {
	long := strings.Repeat("x", 128<<10)
	rows := make([]encodedRow, batch)
	for i := range rows {
		text, sick := long+string(rune('a'+i%26)), false
		rows[i].City, rows[i].Sick = &text, &sick
	}
	path := writeParquet(t, rows, parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray),
		parquet.PageBufferSize(1<<30))
	var tab *Table
	var err error
	took := memoryOf(func() { tab, err = Read(t.Context(), smallSchema(), Options{}, path) })
	if err != nil || tab.Rows != len(rows) {
		t.Fatalf("error %v, want %d rows", err, len(rows))
	}
	if limit := uint64(mostJoined + 8<<20); took > limit {
		t.Errorf("%d bytes of memory, more than %d", took, limit)
	}
}
