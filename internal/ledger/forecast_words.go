// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// describe describes an outlook in words.
func (o *Outlook) describe(b *Balance) string {
	if o.Epsilon == 0 {
		if !o.cohorts {
			return "no model is sustainable: without cohorts a total never renews"
		}
		return fmt.Sprintf("no model on the last %s people is sustainable: a cohort that it would read has nothing left",
			o.lastWords())
	}
	var s strings.Builder
	price := dp.Price{Epsilon: dp.Epsilon(o.Epsilon), Delta: o.Delta}
	fmt.Fprintf(&s, "one model at ε %s", price.Epsilon)
	if price.Delta > 0 {
		fmt.Fprintf(&s, " and δ %s", price.Delta)
	}
	each := " with each new cohort"
	if o.months {
		each = " each month"
	}
	s.WriteString(each)
	if o.cohorts {
		fmt.Fprintf(&s, " on the last %s people", o.lastWords())
	}
	switch {
	case o.Sustainable:
		s.WriteString(" is sustainable")
	case o.Until == "":
		s.WriteString(" is refused at once")
	default:
		fmt.Fprintf(&s, " lasts until %s", o.periodWords(o.Until))
	}
	switch {
	case !o.cohorts:
		s.WriteString("; without cohorts a total never renews")
	case o.SustainableFrom != "":
		begun := "with"
		if o.months {
			begun = "in"
		}
		fmt.Fprintf(&s, "; begun %s %s it would be sustainable", begun, o.periodWords(o.SustainableFrom))
	case !o.Sustainable && o.Most > 0:
		fmt.Fprintf(&s, "; at ε %s it would be sustainable", dp.Epsilon(o.Most))
	case !o.Sustainable:
	case o.AlsoEpsilon == 0 && o.Rest == 0:
		s.WriteString("; nothing is left for models on everyone")
	case o.AlsoEpsilon == 0:
		fmt.Fprintf(&s, "; the rest, ε %s, is left for models on everyone", dp.Epsilon(o.Rest))
	case o.RestUntil == "":
		fmt.Fprintf(&s, "; the rest, ε %s, does not pay for one on everyone at ε %s", dp.Epsilon(o.Rest),
			dp.Epsilon(o.AlsoEpsilon))
	default:
		fmt.Fprintf(&s, "; the rest lasts until %s", o.periodWords(o.RestUntil))
	}
	return s.String()
}

// lastWords describes the cohorts that a model reads, for example as three months.
func (o *Outlook) lastWords() string {
	unit := "cohort"
	if o.months {
		unit = "month"
	}
	if o.Last == 1 {
		return unit + "'s"
	}
	numbers := []string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	n := strconv.Itoa(o.Last)
	if o.Last-2 < len(numbers) {
		n = numbers[o.Last-2]
	}
	return fmt.Sprintf("%s %ss'", n, unit)
}

// periodWords formats a period for readers.
func (o *Outlook) periodWords(name string) string {
	if at, err := time.Parse(month, name); o.months && err == nil {
		return at.Format("January 2006")
	}
	return fmt.Sprintf("cohort %s from now", name)
}
