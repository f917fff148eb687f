// SPDX-License-Identifier: Apache-2.0

package features

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

func idx(magic byte, sizes []byte, content ...byte) []byte {
	out := []byte{0, 0, 8, magic}
	for _, s := range sizes {
		out = append(out, 0, 0, 0, s)
	}
	return append(out, content...)
}

func TestReadImages(t *testing.T) {
	im, err := ReadImages(bytes.NewReader(idx(3, []byte{2, 1, 3}, 1, 2, 3, 4, 5, 6)))
	if err != nil || im.Count != 2 || im.Height != 1 || im.Width != 3 || !slices.Equal(im.pixelsOf(1), []uint8{4, 5, 6}) {
		t.Errorf("%+v, %v", im, err)
	}
	for want, text := range map[string][]byte{
		"read header":    {0, 0, 8},
		"magic number":   idx(1, []byte{1, 1, 1}, 9),
		"size must be":   idx(3, []byte{1, 0, 1}),
		"at least 5 do":  idx(3, []byte{2, 1, 3}, 1, 2, 3, 4, 5),
		"6 bytes must":   idx(3, []byte{2, 1, 3}, 1, 2, 3, 4, 5, 6, 7),
		"is 4278190083 ": {0, 0, 8, 3, 255, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1},
	} {
		if _, err := ReadImages(bytes.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestReadLabels(t *testing.T) {
	labels, err := ReadLabels(bytes.NewReader(idx(1, []byte{3}, 0, 9, 4)), 10)
	if err != nil || !slices.Equal(labels, []uint8{0, 9, 4}) {
		t.Errorf("%v, %v", labels, err)
	}
	for want, text := range map[string][]byte{
		"read header":     {0},
		"magic number":    idx(3, []byte{1}, 9),
		"1 to 1048576":    idx(1, []byte{0}),
		"3 bytes must":    idx(1, []byte{3}, 1),
		"number 1 is not": idx(1, []byte{2}, 9, 10),
	} {
		if _, err := ReadLabels(bytes.NewReader(text), 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzReadImages(f *testing.F) {
	f.Add(idx(3, []byte{2, 1, 3}, 1, 2, 3, 4, 5, 6))
	f.Add([]byte{0, 0, 8, 3, 0, 16, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		if im, err := ReadImages(bytes.NewReader(text)); err == nil &&
			(len(im.Pixels) != im.Count*im.Height*im.Width || len(text) != 16+len(im.Pixels)) {
			t.Errorf("%d pixels of %d images of %d×%d", len(im.Pixels), im.Count, im.Height, im.Width)
		}
		if labels, err := ReadLabels(bytes.NewReader(text), 10); err == nil && len(text) != 8+len(labels) {
			t.Errorf("%d labels", len(labels))
		}
	})
}

// ramp is an image that grows by slope per pixel along an angle.
func ramp(side int, angle float64) []uint8 {
	out := make([]uint8, side*side)
	for y := range side {
		for x := range side {
			out[y*side+x] = uint8(math.Round(100 + 4*(float64(x)*math.Cos(angle)+float64(y)*math.Sin(angle))))
		}
	}
	return out
}

// TestDescribeFindsTheDirection: a ramp's votes lie in the two bins around its
// angle, in proportion, and are the same for the opposite direction.
func TestDescribeFindsTheDirection(t *testing.T) {
	const side = 12
	for _, degrees := range []float64{0, 10, 45, 90, 130, 170, 190} {
		d := describeBlocks(ramp(side, degrees*math.Pi/180), side, side, nil)
		if len(d) != blocksOf(side)*blocksOf(side)*descriptor {
			t.Fatalf("%d numbers", len(d))
		}
		inner := d[(blocksOf(side)+1)*descriptor:][:orientations] // away from the border
		place := math.Mod(degrees, 180) / 180 * orientations
		at := int(place)
		share := place - float64(at)
		sum := float32(0)
		for b, v := range inner {
			sum += v
			if b != at && b != (at+1)%orientations && v > 0.03*inner[at] {
				t.Errorf("%g°: bin %d has %g", degrees, b, v)
			}
		}
		if got := float64(inner[(at+1)%orientations] / sum); math.Abs(got-share) > 0.1 {
			t.Errorf("%g°: share %g of the next bin, want %g", degrees, got, share)
		}
	}
}

// A descriptor is just shorter than 1 and nearly the same for a fainter image;
// a flat one is 0.
func TestDescribeNormalises(t *testing.T) {
	strong := ramp(8, 0.5)
	faint := make([]uint8, len(strong))
	for i, p := range strong {
		faint[i] = p / 2
	}
	a, b := describeBlocks(strong, 8, 8, nil), describeBlocks(faint, 8, 8, nil)
	if n := math.Sqrt(float64(dot(a, a))); !(n > 0.8 && n < 1) {
		t.Errorf("norm %g", n)
	}
	if c := dot(a, b) / float32(math.Sqrt(float64(dot(a, a)*dot(b, b)))); !(c > 0.98) {
		t.Errorf("cosine %g", c)
	}
	for _, v := range describeBlocks(make([]uint8, 64), 8, 8, nil) {
		if v != 0 {
			t.Fatalf("a flat image has a descriptor of %g", v)
		}
	}
}

// clusters are n points around each of k places far apart.
func clusters(n, k, dim int) []float32 {
	src := replay.Seeded(1, "clusters")
	var out []float32
	for i := range n * k {
		for c := range dim {
			v := float32(rng.Below(src, 1000))/1000 - 0.5
			if c == i%k {
				v += 100
			}
			out = append(out, v)
		}
	}
	return out
}

// TestKMeansFindsClusters: each centre is the mean of one cluster, to within
// rounding, whatever the seed of the seeding.
func TestKMeansFindsClusters(t *testing.T) {
	const n, k, dim = 50, 5, 6
	points := clusters(n, k, dim)
	want := make([]float64, k*dim)
	for i := range n * k {
		for c := range dim {
			want[i%k*dim+c] += float64(points[i*dim+c]) / n
		}
	}
	for seed := range uint64(20) {
		centres := kMeans(points, dim, k, replay.Seeded(seed, "seeding"))
		half := halfNorms(centres, dim)
		seen := map[int]bool{}
		for j := range k {
			at := nearestCentre(points[j*dim:(j+1)*dim], centres, half)
			seen[at] = true
			for c := range dim {
				if got := float64(centres[at*dim+c]); math.Abs(got-want[j*dim+c]) > 1e-4 {
					t.Errorf("seed %d: centre of cluster %d is off by %g", seed, j, got-want[j*dim+c])
				}
			}
		}
		if len(seen) != k {
			t.Errorf("seed %d: %d clusters were found", seed, len(seen))
		}
	}
}

// Fewer different points than centres is no trap.
func TestKMeansOfEqualPoints(t *testing.T) {
	centres := kMeans([]float32{1, 2, 1, 2, 1, 2}, 2, 3, replay.Seeded(1, "equal"))
	if !slices.Equal(centres, []float32{1, 2, 1, 2, 1, 2}) {
		t.Errorf("%v", centres)
	}
}

// TestNearestIsTheNaiveOne compares with distances as they are defined.
func TestNearestIsTheNaiveOne(t *testing.T) {
	src := replay.Seeded(2, "nearest")
	const dim, k = 7, 11
	for range 300 {
		v := make([]float32, dim*(k+1))
		for i := range v {
			v[i] = float32(rng.Below(src, 9)) - 4
		}
		p, centres := v[:dim], v[dim:]
		best, least := 0, math.Inf(1)
		for j := range k {
			d := 0.0
			for c := range p {
				d += math.Pow(float64(p[c]-centres[j*dim+c]), 2)
			}
			if d < least {
				best, least = j, d
			}
		}
		if got := nearestCentre(p, centres, halfNorms(centres, dim)); got != best {
			t.Fatalf("nearest to %v is %d, want %d", p, got, best)
		}
	}
}

// noise are images without meaning.
func noise(n, side int) *Images {
	src := replay.Seeded(3, "noise")
	im := &Images{Count: n, Height: side, Width: side, Pixels: make([]uint8, n*side*side)}
	for i := range im.Pixels {
		im.Pixels[i] = uint8(rng.Below(src, 256))
	}
	return im
}

// Rows of shares add up to 1 and do not depend on the processors.
func TestShares(t *testing.T) {
	im := noise(600, 12)
	d := Learn(im, 10, replay.Seeded(4, "words"))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := d.Shares(context.Background(), im)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(5)
	many, err := d.Shares(context.Background(), im)
	if err != nil || !slices.Equal(one.Cells, many.Cells) {
		t.Errorf("other processors, other shares; %v", err)
	}
	for i := range im.Count {
		sum := float32(0)
		for _, s := range one.Cells[i*10 : (i+1)*10] {
			sum += s
		}
		if math.Abs(float64(sum)-1) > 1e-5 {
			t.Fatalf("row %d adds up to %g", i, sum)
		}
	}
	// An image that is flat in part is counted block by block all the same.
	half := &Images{Count: 1, Height: 12, Width: 12, Pixels: slices.Concat(im.pixelsOf(0)[:72], make([]uint8, 72))}
	got, err := d.Shares(context.Background(), half)
	if err != nil {
		t.Fatal(err)
	}
	blocks := describeBlocks(half.Pixels, 12, 12, nil)
	want := make([]float32, 10)
	for b := 0; b < len(blocks); b += descriptor {
		want[nearestCentre(blocks[b:b+descriptor], d.words, d.half)] += float32(descriptor) / float32(len(blocks))
	}
	if !slices.Equal(got.Cells, want) {
		t.Errorf("shares %v, want %v", got.Cells, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Shares(ctx, im); err == nil {
		t.Error("a cancelled context was ignored")
	}
}

func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	made := 0
	get := func(of string) *Matrix {
		m, digest, err := Kept(dir, "m", []byte(of), func() (*Matrix, error) {
			made++
			return &Matrix{2, 2, []float32{1, -2, 3.5, float32(made)}}, nil
		})
		if err != nil || len(digest) != 12 {
			t.Fatalf("digest %q, %v", digest, err)
		}
		return m
	}
	first := get("a")
	if again := get("a"); made != 1 || !slices.Equal(again.Cells, first.Cells) || again.Rows != 2 || again.Width != 2 {
		t.Errorf("made %d times; %v became %v", made, first, again)
	}
	if get("b"); made != 2 {
		t.Error("another origin, the same matrix")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	// Whatever becomes of a file, it is noticed.
	path := filepath.Join(dir, files[0].Name())
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range text {
		flipped := slices.Clone(text)
		flipped[cut] ^= 1
		for _, bad := range [][]byte{text[:cut], flipped} {
			if _, ok := unpackMatrix(bad); ok {
				t.Fatalf("a file spoilt at byte %d was believed", cut)
			}
		}
	}
	if err := os.WriteFile(path, text[:20], 0o644); err != nil {
		t.Fatal(err)
	}
	get("a")
	get("b")
	if made != 3 {
		t.Errorf("made %d times, want 3: one file was spoilt", made)
	}
	if m, _, err := Kept("", "m", nil, func() (*Matrix, error) { return first, nil }); err != nil || m != first {
		t.Errorf("without a folder: %v, %v", m, err)
	}
}
