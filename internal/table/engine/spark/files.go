// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// piece is some row groups of a file that executors open themselves.
type piece struct {
	Name string              `json:"name"`
	Part dataset.ParquetPart `json:"part"`
}

// Bounds of the rows of a piece, or a few more. A piece is one task of Spark for every question: to
// begin one costs Spark as much as a question about a million rows costs, and more. The upper bound
// is for clusters whose executors come late, so that nobody knows how many tasks run at once.
const (
	leastPieceRows = 1 << 18
	mostPieceRows  = 1 << 23
)

// cutFiles cuts the files in data into pieces for so many tasks at once; nil where Spark must say
// what data means.
func cutFiles(data []string, parallel int) (pieces []piece, err error) {
	files, ok := listFiles(data)
	if !ok {
		return nil, nil
	}
	// The parts of files are row groups at first, of which neighbours are put together.
	var parts []dataset.ParquetPart
	rows := 0
	for _, path := range files {
		of, err := dataset.CutParquet(path, 1)
		if err != nil {
			return nil, err
		}
		for _, part := range of {
			rows += part.Rows
		}
		parts = append(parts, of...)
	}
	enough := min(max(rows/max(1, parallel), leastPieceRows), mostPieceRows)
	for k, part := range parts {
		last := len(pieces) - 1
		if last >= 0 && part.From > 0 && parts[k-1].Path == part.Path && pieces[last].Part.Rows < enough {
			pieces[last].Part.To = part.To
			pieces[last].Part.Rows += part.Rows
			continue
		}
		pieces = append(pieces, piece{strconv.Itoa(len(pieces)), part})
	}
	return pieces, nil
}

// listFiles lists the files of a table that lies in files and folders of this machine's file
// system, as Spark would; not ok where its names may mean anything else to Spark.
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
