// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/read/object"
)

// listFiles replaces a folder by its files, and a pattern such as visits/*.csv by the files that match it,
// both in the order of their names. A file with the name of a pattern is that file.
func listFiles(ctx context.Context, paths []string) (files []string, err error) {
	for _, path := range paths {
		inside := []string{path}
		switch {
		case isStdin(path), IsAddress(path), findHeld(ctx, path) != nil:
		case object.IsFolder(path):
			if inside, err = object.List(ctx, path); err == nil {
				inside, err = tablesOf(path, inside)
			}
		case object.IsAddress(path):
		default:
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				if inside, err = listFolder(path); err == nil {
					inside, err = tablesOf(path, inside)
				}
			} else if statErr != nil && strings.ContainsAny(path, "*?[") {
				inside, err = matchPattern(path)
			}
		}
		if err != nil {
			return nil, err
		}
		files = append(files, inside...)
	}
	return files, nil
}

// listFolder lists a local folder in the order of names; names of folders in it end in a slash.
func listFolder(path string) (files []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if info, err := os.Stat(file); e.IsDir() || err == nil && info.IsDir() {
			file += "/"
		}
		files = append(files, file)
	}
	return files, nil
}

// tablesOf returns the tables among what a folder holds: files of Parquet alone, or of CSV alone. As in
// other readers of such folders, names that begin with _ or . are skipped. All else is refused, so that
// no rows are skipped without notice, nor rows read that have been deleted or replaced.
func tablesOf(folder string, inside []string) (files []string, err error) {
	fault := func(want string) ([]string, error) { return nil, &FaultError{File: folder, Fault: want} }
	nameOf := func(file string) string {
		name := strings.TrimSuffix(file, "/")
		return name[strings.LastIndexAny(name, `/`+string(filepath.Separator))+1:]
	}
	if slices.ContainsFunc(inside, func(file string) bool { return slices.Contains(logs, nameOf(file)) }) {
		return fault(wantNoLog)
	}
	var format Format
	for _, file := range inside {
		name := nameOf(file)
		switch {
		case strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."):
			continue
		case file != strings.TrimSuffix(file, "/") && strings.Contains(name, "="):
			source := "read_parquet('FILE/**/*.parquet'"
			if formatInside(file) == CSV {
				source = "read_csv('FILE/**/*.csv*'"
			}
			return fault("must be a folder of files alone, and is partitioned, so that names of folders in it are cells: make one table " +
				"of it by " + convert(folder, source+", hive_partitioning = true)"))
		case file != strings.TrimSuffix(file, "/"):
			return fault("must be a folder of files alone: name those in its folders by a pattern, such as '" +
				strings.TrimSuffix(folder, "/") + "/*/*.parquet'")
		}
		of := FormatOf(file)
		if of == CSV && !strings.HasSuffix(unpackedName(strings.ToLower(name)), ".csv") || of != cmp.Or(format, of) {
			return fault("must be a folder of .parquet files alone, or of .csv files alone (also .csv.gz and .csv.zst)")
		}
		format, files = of, append(files, file)
	}
	if len(files) == 0 {
		return fault("must be a folder of at least one .parquet or .csv file")
	}
	return files, nil
}

// logs are the names, in a folder of Delta Lake, Hudi or Iceberg, of what says which of its files still count.
var logs = []string{"_delta_log", ".hoodie", "metadata"}

const wantNoLog = "must be a folder of files alone, and is a table with a log, by which some of its files no longer count: " +
	"let Spark read it as a table, or write its present rows as one Parquet file"

// formatInside returns the format of the first file in a local folder or in its folders; Parquet if there is none.
func formatInside(folder string) Format {
	format := Parquet
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		format = FormatOf(path)
		return fs.SkipAll
	})
	return format
}

// matchPattern returns the local files whose names match a pattern. As in a shell, * and ? match no
// leading full stop, and [!0] is all but 0. Other programs find files at any depth by **, and Go does not.
func matchPattern(pattern string) ([]string, error) {
	fault := func(want string) ([]string, error) { return nil, &FaultError{File: pattern, Fault: want} }
	if strings.Contains(pattern, "**") {
		return fault("must have a * for each folder, such as 'visits/*/*.csv', and no **")
	}
	files, err := filepath.Glob(strings.ReplaceAll(pattern, "[!", "[^"))
	if err != nil {
		return fault("must be a file, a folder, or a pattern of *, ? and [...]")
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return strings.HasPrefix(filepath.Base(file), ".") && !strings.HasPrefix(filepath.Base(pattern), ".")
	})
	if len(files) == 0 {
		return fault("must match at least one file")
	}
	slices.Sort(files)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return tablesOf(pattern, []string{file + "/"}) // which says what to do
		}
		for _, log := range logs[:2] { // which lie beside the files
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), log)); err == nil {
				return fault(wantNoLog)
			}
		}
		if FormatOf(file) != FormatOf(files[0]) {
			return fault("must match Parquet alone, or CSV alone")
		}
	}
	return files, nil
}

// convert returns the command by which DuckDB writes a table as Parquet; source reads FILE.
func convert(file, source string) string {
	file = strings.TrimSuffix(file, "/")
	to := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if to == "" || strings.ContainsAny(to, "*?[") {
		to = "table"
	}
	return `duckdb -c "COPY (SELECT * FROM ` + strings.ReplaceAll(source, "FILE", file) + `) TO '` + to + `.parquet'"`
}

// firstFile returns the file at path, or the first file of a folder or a pattern.
func firstFile(ctx context.Context, path string) (string, error) {
	files, err := listFiles(ctx, []string{path})
	if err != nil {
		return "", err
	}
	return files[0], nil
}
