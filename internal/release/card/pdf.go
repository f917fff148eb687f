// SPDX-License-Identifier: Apache-2.0

//go:build !js

package card

import (
	"fmt"
	"io"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
)

// Dimensions of the PDF, in millimetres and points.
const (
	margin    = 18.0
	pageWidth = 210.0
	keyWidth  = 38.0
	body      = 9.5
	leading   = 4.6 // of body
)

// WritePDF writes the card on A4 paper. The same card has the same bytes.
func (c *Card) WritePDF(w io.Writer) error {
	date, err := time.Parse(time.DateOnly, c.Date)
	if err != nil {
		return err
	}
	f := fpdf.New("P", "mm", "A4", "")
	f.SetCreationDate(date)
	f.SetModificationDate(date)
	f.SetCatalogSort(true)
	f.SetTitle(c.title(), true)
	f.SetLang("en")
	f.AddUTF8FontFromBytes("sans", "", liberationsansregular.TTF)
	f.AddUTF8FontFromBytes("sans", "B", liberationsansbold.TTF)
	f.SetMargins(margin, margin, margin)
	f.SetAutoPageBreak(true, margin)
	f.SetFooterFunc(func() {
		f.SetY(-12)
		f.SetFont("sans", "", 8)
		f.SetTextColor(90, 100, 110)
		f.CellFormat(0, 4, fmt.Sprintf("%.16s   page %d", c.Checksum, f.PageNo()), "", 0, "R", false, 0, "")
	})
	f.AddPage()
	f.SetFont("sans", "B", 16)
	f.MultiCell(0, 7, c.title(), "", "L", false)
	f.Ln(2)
	f.SetFont("sans", "", 11)
	f.MultiCell(0, 5.4, c.lead(), "", "L", false)
	for _, s := range c.sections() {
		writeSection(f, s)
	}
	return f.Output(w)
}

func writeSection(f *fpdf.Fpdf, s section) {
	const bottom = 297 - margin
	if f.GetY() > bottom-30 {
		f.AddPage()
	}
	f.Ln(4)
	f.SetDrawColor(31, 35, 40)
	f.SetLineWidth(0.5)
	f.Line(margin, f.GetY(), pageWidth-margin, f.GetY())
	f.Ln(1.5)
	f.SetTextColor(31, 35, 40)
	f.SetFont("sans", "B", 11)
	f.MultiCell(0, 5.5, s.Title, "", "L", false)
	for _, l := range s.Lines {
		f.SetFont("sans", "", body)
		rows := 0
		for _, t := range l.Text {
			rows += len(f.SplitText(t, pageWidth-2*margin-keyWidth-4))
		}
		if f.GetY()+1+float64(rows)*leading > bottom && rows < 30 {
			f.AddPage()
		}
		f.Ln(1)
		top := f.GetY()
		f.SetTextColor(90, 100, 110)
		f.MultiCell(keyWidth, leading, l.Key, "", "L", false)
		f.SetTextColor(31, 35, 40)
		f.SetY(top)
		for _, t := range l.Text {
			f.SetX(margin + keyWidth)
			f.MultiCell(pageWidth-2*margin-keyWidth, leading, t, "", "L", false)
		}
	}
}

// Format returns the function that writes the card as html, pdf, yaml or a record of the registry; nil
// for another name.
func (c *Card) Format(name string) func(io.Writer) error {
	return map[string]func(io.Writer) error{"html": c.WriteHTML, "pdf": c.WritePDF, "yaml": c.WriteYAML,
		"registry": c.WriteRegistry}[name]
}
