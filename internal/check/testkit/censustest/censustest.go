// SPDX-License-Identifier: Apache-2.0

// Package censustest gives tests tables of the embedded census. Seeds choose different people; longer tables
// begin again after the last of them.
package censustest

import (
	"bytes"
	"context"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// stride is the distance of the first people of two seeds, so that seeds that follow each other share none
// in tables of up to 3,000 people.
const stride = 7919

func person(seed uint64, i int) int {
	return (int((seed+census.People-1)%census.People)*stride + i) % census.People
}

var all = sync.OnceValue(func() *dataset.Table { return read(census.CSV(0, census.People)) })

func read(text []byte) *dataset.Table {
	t, err := dataset.Read(context.Background(), census.Schema(), dataset.Options{Stdin: bytes.NewReader(text)}, "-")
	if err != nil {
		panic(err)
	}
	return t
}

// Table returns a table of rows people, whose dictionaries are those of the whole census.
func Table(seed uint64, rows int) *dataset.Table {
	people := make([]int, rows)
	for i := range people {
		people[i] = person(seed, i)
	}
	t := all().Subset(people)
	t.Schema = census.Schema()
	return t
}

// CSV returns the same people as a CSV file.
func CSV(seed uint64, rows int) []byte {
	b := bytes.NewBuffer(census.CSV(0, 0))
	for i := 0; i < rows; {
		from := person(seed, i)
		n := min(rows-i, census.People-from)
		b.Write(census.CSV(from, from+n)[len(census.CSV(0, 0)):])
		i += n
	}
	return b.Bytes()
}

// Parquet returns the same people as a Parquet file.
func Parquet(seed uint64, rows int) []byte {
	var b bytes.Buffer
	text := CSV(seed, rows)
	ctx := dataset.WithFile(context.Background(), "people.csv", bytes.NewReader(text), int64(len(text)))
	if err := dataset.CopyRows(ctx, census.Schema(), dataset.Options{}, &b, dataset.Parquet, nil, nil, "people.csv"); err != nil {
		panic(err)
	}
	return b.Bytes()
}
