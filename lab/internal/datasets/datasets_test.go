// SPDX-License-Identifier: Apache-2.0

package datasets

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// want replaces the sets by files of the given contents, for one test.
func want(t *testing.T, contents map[string]string) {
	t.Helper()
	was := All
	t.Cleanup(func() { All = was })
	All = nil
	for name, text := range contents {
		sum := sha256.Sum256([]byte(text))
		All = append(All, Set{Name: name, Files: []File{{name, int64(len(text)), hex.EncodeToString(sum[:])}}})
	}
}

// Files are known by their content, whatever they are called and whether they are compressed; what is not right is told.
func TestPrepare(t *testing.T) {
	raw := "1 1 5 2 3\n"
	hapt := "exp,user,segment,activity,ax,ay,az,gx,gy,gz\n1,1,1,5,735,-90,75,-9,18,27\n1,1,1,5,720,0,-1,10000,0,0\n"
	phishing := "\"" + strings.Join(phishingHeader, `","`) + "\"\n-1,1\n1,-1\n"
	want(t, map[string]string{"adult/adult.data.gz": "39, x\n", "uci/plain.txt": "plain", "mnist/none.gz": "nowhere",
		"hapt/hapt_labelled_samples.csv.gz": hapt, "phishing/phishing_websites.csv.gz": phishing})
	from, to := t.TempDir(), t.TempDir()
	write(t, filepath.Join(from, "deep", "download (1)"), "39, x\n")
	write(t, filepath.Join(from, "p"), "plain")
	write(t, filepath.Join(from, "broken.gz"), "no gzip")
	write(t, filepath.Join(from, "RawData", "labels.txt"), raw)
	write(t, filepath.Join(from, "RawData", "acc_exp01_user01.txt"), "9 9 9\n1.0208333 -0.125 0.10416667\n1 0 -0.0013888889\n")
	write(t, filepath.Join(from, "RawData", "gyro_exp01_user01.txt"), "9 9 9\n-0.0009 0.00181 0.0027\n1 0 0\n")
	write(t, filepath.Join(from, "Training Dataset.arff"), "@relation x\r\n@data\r\n-1,1\r\n1,-1\r\n")
	write(t, filepath.Join(to, "uci", "plain.txt"), "other")
	if state, err := Check(to, File{"uci/plain.txt", 5, "00"}); state != Wrong || err != nil {
		t.Errorf("other content is %s, %v", state, err)
	}
	wrote, err := Prepare(from, to)
	if err != nil {
		t.Fatal(err)
	}
	if len(wrote) != 4 || slices.Contains(wrote, "mnist/none.gz") {
		t.Errorf("wrote %q", wrote)
	}
	for _, s := range All {
		expected := Right
		if s.Name == "mnist/none.gz" {
			expected = Missing
		}
		if state, err := Check(to, s.Files[0]); state != expected || err != nil {
			t.Errorf("%s is %s, %v", s.Name, state, err)
		}
	}
	if wrote, err := Prepare(from, to); len(wrote) != 0 || err != nil {
		t.Errorf("again: %q, %v", wrote, err)
	}
}

// What is made of others must come out as it is known.
func TestPrepareRefusesOtherSources(t *testing.T) {
	want(t, map[string]string{"phishing/phishing_websites.csv.gz": "something else"})
	from, to := t.TempDir(), t.TempDir()
	write(t, filepath.Join(from, "Training Dataset.arff"), "@data\n-1,1\n")
	if wrote, err := Prepare(from, to); err == nil || len(wrote) != 0 {
		t.Errorf("%q, %v", wrote, err)
	}
}

// The folder of data sets holds what the list says.
func TestListIsTrue(t *testing.T) {
	folder := realdata.File(t, ".")
	for _, s := range All {
		if s.Source == "" || s.Licence == "" || len(s.Files) == 0 || len(s.Data) == 0 {
			t.Errorf("%s: a field is empty", s.Name)
		}
		for _, f := range s.Files {
			if f.SHA256 == "" {
				continue
			}
			if state, err := Check(folder, f); state != Right || err != nil {
				t.Errorf("%s is %s, %v", f.Name, state, err)
			}
		}
	}
}

// HAPT is made of raw files that are written back from it.
func TestHAPTIsMadeOfRawFiles(t *testing.T) {
	size.OnlyLong(t, "30 MB; TestPrepare makes two rows")
	made := realdata.File(t, "hapt/hapt_labelled_samples.csv.gz")
	labels, err := os.ReadFile(realdata.File(t, "hapt/labels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write(t, filepath.Join(folder, "labels.txt"), string(labels))
	from := map[int]int{} // first sample, by segment
	for i, line := range strings.Split(strings.TrimSpace(string(labels)), "\n") {
		var e, u, a, first, last int
		if _, err := fmt.Sscan(line, &e, &u, &a, &first, &last); err != nil {
			t.Fatal(err)
		}
		from[i+1] = first
	}
	raw := map[string][]string{}
	last, at := 0, 0
	err = readContent(made, func(r io.Reader) error {
		s := bufio.NewScanner(r)
		s.Scan()
		for s.Scan() {
			var e, u, segment, activity int
			var x [6]float64
			if _, err := fmt.Sscanf(s.Text(), "%d,%d,%d,%d,%g,%g,%g,%g,%g,%g", &e, &u, &segment, &activity, &x[0], &x[1], &x[2],
				&x[3], &x[4], &x[5]); err != nil {
				return err
			}
			if segment != last {
				last, at = segment, from[segment]
			}
			for k, name := range []string{"acc", "gyro"} {
				name = fmt.Sprintf("%s_exp%02d_user%02d.txt", name, e, u)
				for len(raw[name]) < at-1 {
					raw[name] = append(raw[name], "0 0 0")
				}
				scale := []float64{720, 10_000}[k]
				raw[name] = append(raw[name][:at-1], fmt.Sprint(x[3*k]/scale, x[3*k+1]/scale, x[3*k+2]/scale))
			}
			at++
		}
		return s.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range raw {
		write(t, filepath.Join(folder, name), strings.Join(rows, "\n")+"\n")
	}
	var out bytes.Buffer
	if err := writeHAPT(folder, &out); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	for _, s := range All {
		if s.Files[0].Name == "hapt/hapt_labelled_samples.csv.gz" && s.Files[0].SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("made content has checksum %x", sum)
		}
	}
}
