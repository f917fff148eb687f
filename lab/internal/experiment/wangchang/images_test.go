// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const digitSide = 12

// digits writes a data folder with invented images of ten directions.
func digits(t *testing.T, train, test int) string {
	t.Helper()
	dir := t.TempDir()
	src := replay.Seeded(1, "digits")
	for _, s := range []images{mnist, fashion} {
		if err := os.MkdirAll(filepath.Join(dir, s.folder), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, n := range map[string]int{"train": train, "t10k": test} {
			var pixels, labels bytes.Buffer
			binary.Write(&pixels, binary.BigEndian, []uint32{0x0803, uint32(n), digitSide, digitSide})
			binary.Write(&labels, binary.BigEndian, []uint32{0x0801, uint32(n)})
			for i := range n {
				class := i % imageClasses
				labels.WriteByte(uint8(class))
				sin, cos := math.Sincos(float64(class) * math.Pi / imageClasses)
				for p := range digitSide * digitSide {
					noise := float64(rng.Below(src, 13)) - 6
					pixels.WriteByte(uint8(128 + 6*(float64(p%digitSide-6)*cos+float64(p/digitSide-6)*sin) + noise))
				}
			}
			zip(t, filepath.Join(dir, s.folder, name+"-images-idx3-ubyte.gz"), pixels.Bytes())
			zip(t, filepath.Join(dir, s.folder, name+"-labels-idx1-ubyte.gz"), labels.Bytes())
		}
	}
	return dir
}

func zip(t *testing.T, path string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOpenImages(t *testing.T) {
	dir := digits(t, 300, 100)
	w := frame.NewWorld(dir)
	w.Cache = filepath.Join(t.TempDir(), "cache")
	train, test, err := mnist.openImages(t.Context(), w, 12)
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 300 || test.Len() != 100 || train.Dim() != 12 || test.Dim() != 12 || train.classes != imageClasses {
		t.Fatalf("%d and %d rows of %d numbers", train.Len(), test.Len(), train.Dim())
	}
	for i := range train.Len() {
		for _, x := range row(train, i) {
			if !(x >= -1 && x <= 1) {
				t.Fatalf("row %d has %g", i, x)
			}
		}
	}
	// Directions are what the descriptors see.
	c := perturbCentroids(train, upTo(300), onesOf(300), 1, nil, false, nil)
	if a := accuracyOf(nearestClass(test, c), test.y); a < 0.9 {
		t.Errorf("accuracy %g", a)
	}
	files, err := os.ReadDir(w.Cache)
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files are kept, %v", len(files), err)
	}
	again, _, err := mnist.openImages(t.Context(), w, 12)
	if err != nil || !slices.Equal(again.Rows.(matrix).cells, train.Rows.(matrix).cells) {
		t.Errorf("kept features differ, %v", err)
	}
	// Fewer labels than images.
	text, err := os.ReadFile(filepath.Join(dir, "mnist", "t10k-labels-idx1-ubyte.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mnist", "train-labels-idx1-ubyte.gz"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mnist.openImages(t.Context(), w, 12); err == nil ||
		!strings.Contains(err.Error(), "100 labels for 300 images") {
		t.Error(err)
	}
	if _, _, err := mnist.openImages(t.Context(), frame.NewWorld(filepath.Join(dir, "none")), 12); err == nil {
		t.Error("a missing folder is no error")
	}
}

func TestSpread(t *testing.T) {
	got := rescaleShares([]float32{0, 0.025, 0.1, 0.4})
	for i, want := range []float64{-1, 0, 1, 1} {
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Errorf("%v", got)
		}
	}
}
