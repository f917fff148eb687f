// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// pngDPI makes a figure 1300 pixels wide: sharp on a phone and in print.
const pngDPI = 240

// WriteSVG writes the chart as one self-contained SVG document that scales to
// the width it is given. Equal charts have equal bytes.
func (l *Lines) WriteSVG(w io.Writer) error {
	if err := l.checkDrawable(); err != nil {
		return err
	}
	c := vgsvg.New(figureWidth, figureHeight)
	l.paintOn(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("plot: write svg: %w", err)
	}
	if _, err := w.Write(l.dressSVG(b.Bytes())); err != nil {
		return fmt.Errorf("plot: write svg: %w", err)
	}
	return nil
}

// dressSVG adds to the document what the canvas does not provide: a title and a description for screen
// readers, and fonts that most machines have.
func (l *Lines) dressSVG(svg []byte) []byte {
	head, body, _ := bytes.Cut(svg, []byte("xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"))
	var b bytes.Buffer
	b.Write(head)
	fmt.Fprintf(&b, "xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n",
		html.EscapeString(l.Title), html.EscapeString(l.describeNumbers()))
	b.Write(bytes.ReplaceAll(body, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))
	return b.Bytes()
}

// describeNumbers lists the figure's numbers in one sentence per series.
func (l *Lines) describeNumbers() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s by %s.", l.YLabel, l.XLabel)
	for i := range l.Series {
		s := &l.Series[i]
		fmt.Fprintf(&b, " %s:", s.Name)
		for k, x := range s.X {
			fmt.Fprintf(&b, " %.3g at %g", s.Y[k], x)
			if k < len(s.X)-1 {
				b.WriteByte(',')
			}
		}
		b.WriteByte('.')
	}
	for _, r := range l.References {
		fmt.Fprintf(&b, " %s: %.3g.", r.Name, r.Y)
	}
	if foot := l.footText(); foot != "" {
		b.WriteString(" " + foot)
	}
	return b.String()
}

// WritePNG writes the chart as a picture 1300 pixels wide.
func (l *Lines) WritePNG(w io.Writer) error {
	if err := l.checkDrawable(); err != nil {
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(figureWidth, figureHeight), vgimg.UseDPI(pngDPI))
	l.paintOn(draw.New(c))
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("plot: write png: %w", err)
	}
	return nil
}
