// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Bars compares a few numbers in a terminal.
type Bars struct {
	Title string // required
	// From and To bound the scale, From < To; bars begin at From. They are
	// written below the bars, so that a scale that does not begin at 0 shows.
	From, To float64
	Decimals int // of the numbers, 0 to 9
	Note     string
	Bars     []Bar
}

// Bar is one number. A value outside the scale is drawn at its end.
type Bar struct {
	Name  string
	Value float64
	Text  string // follows the number, e.g. "no privacy"; may be empty
}

func (b *Bars) checkData() error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "plot", Param: param, Want: want, Got: got}
	}
	switch {
	case b.Title == "":
		return refuse("title", "must be given", nil)
	case !isDrawable(b.From) || !isDrawable(b.To) || !(b.From < b.To):
		return refuse("scale", "must be two numbers up to 1e12, the lower one first", fmt.Sprintf("%g to %g", b.From, b.To))
	case b.Decimals < 0 || b.Decimals > 9:
		return refuse("decimals", "must be 0 to 9", b.Decimals)
	case len(b.Bars) == 0:
		return refuse("bars", "must be at least one", nil)
	}
	for _, x := range b.Bars {
		if err := checkName("bar", x.Name); err != nil {
			return err
		}
		if !isDrawable(x.Value) {
			return refuse("bar "+x.Name, wantNumber, x.Value)
		}
		if err := checkText("bar "+x.Name, x.Text, nameRunes); err != nil {
			return err
		}
	}
	return errors.Join(checkText("title", b.Title, 200), checkText("note", b.Note, 1000))
}

var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// WriteText draws the bars for a terminal of the given width, which is kept
// within 40 to 100 columns; names that leave no room are cut. Equal bars have equal bytes.
func (b *Bars) WriteText(w io.Writer, columns int, g Glyphs) error {
	if err := b.checkData(); err != nil {
		return err
	}
	t := newTerminal(columns, g)
	t.writeParagraph(b.Title)
	t.writeLine("")
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', b.Decimals, 64) }
	name, value, after := 0, 0, 0
	for _, x := range b.Bars {
		name = max(name, displayWidth(t.asText(x.Name)))
		value = max(value, len(number(x.Value)))
		after = max(after, displayWidth(t.asText(x.Text)))
	}
	from, to := number(b.From), number(b.To)
	least := max(12, len(from)+len(to)+2) // cells a bar needs to say anything
	name = max(4, min(name, t.columns-6-value-least))
	room := t.columns - 6 - name - value
	if after > 0 && room-after-2 >= least {
		room -= after + 2
	} else {
		after = 0 // too narrow: what follows a number gets a line of its own
	}
	for _, x := range b.Bars {
		part := max(0, min(1, (x.Value-b.From)/(b.To-b.From)))
		length := int(part*float64(8*room) + 0.5)
		bar := strings.Repeat(t.pickSpelling("█", "#"), length/8) + t.pickSpelling(eighths[length%8], "")
		line := fmt.Sprintf("  %s  %s  %*s", padTo(t.cutToWidth(t.asText(x.Name), name), name), padTo(bar, room), value,
			number(x.Value))
		if after > 0 {
			line += "  " + t.asText(x.Text)
		}
		t.writeLine(line)
		if after == 0 && x.Text != "" {
			t.writeLine(strings.Repeat(" ", name+4) + t.cutToWidth(t.asText(x.Text), t.columns-name-4))
		}
	}
	tick := t.pickSpelling("╵", "'")
	t.writeLine(strings.Repeat(" ", name+4) + tick + strings.Repeat(" ", room-2) + tick)
	t.writeLine(strings.Repeat(" ", name+4) + padTo(from, room-len(to)) + to)
	if b.Note != "" {
		t.writeLine("")
		t.writeParagraph(b.Note)
	}
	if _, err := w.Write(t.Bytes()); err != nil {
		return fmt.Errorf("plot: write text: %w", err)
	}
	return nil
}
