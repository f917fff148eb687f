// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// piece is some row groups of files that executors open themselves.
type piece struct {
	Name  string                `json:"name"`
	Parts []dataset.ParquetPart `json:"parts"`
}

// mostPieceRows bounds the approximate number of rows of a piece, for clusters whose number of
// simultaneous tasks is unknown because executors start late.
const mostPieceRows = 1 << 23

// cutFiles divides the files in data into pieces for the given number of simultaneous tasks, with at
// least about least rows each. A piece is one Spark task per question, and starting a task costs as
// much as a question about a million rows. It returns nil if Spark must interpret data.
func cutFiles(data []string, parallel, least int) (pieces []piece, err error) {
	files, ok := listFiles(data)
	if !ok {
		return nil, nil
	}
	var groups []dataset.ParquetPart
	rows := 0
	for _, path := range files {
		of, err := dataset.CutParquet(path, 1)
		if err != nil {
			return nil, err
		}
		for _, group := range of {
			rows += group.Rows
		}
		groups = append(groups, of...)
	}
	count := countPieces(rows, parallel, least)
	before := 0
	for _, group := range groups {
		if before*count >= rows*len(pieces) {
			pieces = append(pieces, piece{Name: strconv.Itoa(len(pieces))})
		}
		before += group.Rows
		of := &pieces[len(pieces)-1].Parts
		if end := len(*of) - 1; end >= 0 && (*of)[end].Path == group.Path && (*of)[end].To == group.From {
			(*of)[end].To = group.To
			(*of)[end].Rows += group.Rows
			continue
		}
		*of = append(*of, group)
	}
	return pieces, nil
}

// countPieces returns the number of pieces, about equal in rows: the number of simultaneous tasks, or
// a small multiple of it.
func countPieces(rows, parallel, least int) int {
	count := max(1, min(parallel, rows/least))
	return count * (1 + (rows-1)/count/mostPieceRows)
}

// listFiles lists the files of a table in local files and folders, as Spark would; ok is false if
// Spark may interpret a name differently.
func listFiles(data []string) (files []string, ok bool) {
	for _, name := range data {
		if strings.ContainsAny(name, "=*?[]{}\\%") { // columns in names, and patterns
			return nil, false
		}
		if rest, isURI := strings.CutPrefix(name, "file:"); isURI {
			name = "/" + strings.TrimLeft(rest, "/")
		}
		if strings.Contains(name, ":") {
			return nil, false
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, false
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, false
		case info.Mode().IsRegular():
			files = append(files, path)
			continue
		case !info.IsDir():
			return nil, false
		}
		inside, err := os.ReadDir(path)
		if err != nil {
			return nil, false
		}
		for _, entry := range inside {
			if strings.HasPrefix(entry.Name(), "_") || strings.HasPrefix(entry.Name(), ".") {
				continue // which Spark does not read either
			}
			if info, err := os.Stat(filepath.Join(path, entry.Name())); err != nil || !info.Mode().IsRegular() {
				return nil, false
			}
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, len(files) > 0
}
