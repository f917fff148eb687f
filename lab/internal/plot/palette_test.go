// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"image/color"
	"math"
	"testing"
)

// linear is a colour as light, red, green and blue in [0, 1].
type linear [3]float64

func light(c color.RGBA) (out linear) {
	for i, v := range []uint8{c.R, c.G, c.B} {
		x := float64(v) / 255
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

func (l linear) luminance() float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

// seen is the colour through eyes whose cones m describes.
func (l linear) seen(m [3][3]float64) (out linear) {
	for i := range out {
		for j := range l {
			out[i] += m[i][j] * l[j]
		}
		out[i] = max(0, min(1, out[i]))
	}
	return out
}

// lab is the colour in CIELAB under D65, where distances are as seen.
func (l linear) lab() (out [3]float64) {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.95047)
	y := f(l.luminance())
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// eyes are those of Machado, Oliveira and Fernandes (2009), severity 1.
var eyes = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func TestColoursCanBeToldApart(t *testing.T) {
	for name, m := range eyes {
		for i := range palette {
			for j := range i {
				a, b := light(palette[i]).seen(m).lab(), light(palette[j]).seen(m).lab()
				d := math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
				if d < 25 { // a just noticeable difference is 2.3
					t.Errorf("%s: colours %d and %d differ by %.1f, want 25 at least", name, j, i, d)
				}
			}
		}
	}
}

func TestColoursStandOutFromWhite(t *testing.T) {
	for i, c := range append(palette[:], ink, quiet) {
		least := 3.0
		if i >= len(palette) {
			least = 4.5 // text
		}
		if contrast := 1.05 / (light(c).luminance() + 0.05); contrast < least {
			t.Errorf("colour %d has contrast %.2f, want %g at least", i, contrast, least)
		}
	}
}
