// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Pace is a plan of trainings for every period. A period is a month, or the time between two cohorts
// if cohorts are not named as months.
type Pace struct {
	Price dp.Price // of one model on the last cohorts, or on all of a data set without cohorts; ε 0 asks for the largest
	Last  int      // number of cohorts that the model reads, the current one included; at least 1
	Also  dp.Price // price of one more model on all of the data set; 0 for none
	From  string   // the first period, such as 2027-01; used if cohorts are months
}

// maxLast bounds Pace.Last: a century of months.
const maxLast = 1200

// Outlook is the result of following a pace. Periods have the names of cohorts or, if those are not
// months, numbers from now: 1 for the next.
type Outlook struct {
	Dataset string   `json:"dataset"`
	Epsilon Decimal  `json:"epsilon"` // of the pace, or the largest sustainable one
	Delta   dp.Delta `json:"delta_femto"`
	Last    int      `json:"last"`
	From    string   `json:"from"`
	// Sustainable reports whether the model on the last cohorts can be trained in every period from
	// From on. If not, Until is the last period before the first refusal, and SustainableFrom the
	// first period from which on it can be trained in every period. Each is "" if there is none.
	Sustainable     bool   `json:"sustainable"`
	Until           string `json:"until,omitempty"`
	SustainableFrom string `json:"sustainable_from,omitempty"`
	// Most is the largest ε at which the model is sustainable from From on.
	Most Decimal `json:"largest_sustainable"`
	// Rest is the ε that the sustainable model leaves in every cohort. RestUntil is the last period in
	// which one more model, at AlsoEpsilon, can be trained on all of the data set without causing a
	// later refusal; "" if there is none.
	Rest        Decimal `json:"rest"`
	AlsoEpsilon Decimal `json:"also_epsilon,omitempty"`
	RestUntil   string  `json:"rest_until,omitempty"`
	Words       string  `json:"words"`

	months, cohorts bool
}

// Forecast computes the outlook of a pace. It counts the reservations of running jobs as spent.
func (b *Balance) Forecast(p Pace) (*Outlook, error) {
	bad := dp.RefuseFor("forecast")
	if p.Last < 1 || p.Last > maxLast {
		return nil, bad("last", fmt.Sprintf("must be 1 to %d", maxLast), p.Last)
	}
	o := &Outlook{Dataset: b.Name, Last: p.Last, From: p.From, cohorts: b.CohortBy != ""}
	at, err := b.placeCohorts(p.From, &o.months)
	if err != nil {
		return nil, err
	}
	first := 0 // the first period, as an index
	if o.months {
		if first, err = monthIndex(p.From); err != nil {
			return nil, err
		}
	}
	c := course{balance: b, at: at, first: first, last: p.Last}
	o.Most = Decimal(c.mostSustainable(p.Price.Delta))
	if p.Price.Epsilon == 0 {
		p.Price.Epsilon = dp.Epsilon(o.Most)
	}
	o.Epsilon, o.Delta, o.AlsoEpsilon = Decimal(p.Price.Epsilon), p.Price.Delta, Decimal(p.Also.Epsilon)
	name := func(period int) string {
		if o.months {
			return indexMonth(period)
		}
		return strconv.Itoa(period - first + 1)
	}
	o.From = name(first)
	if p.Price.Epsilon > 0 {
		refused, from := c.firstRefusal(p.Price), c.sustainableFrom(p.Price)
		o.Sustainable = refused < 0
		if refused > first {
			o.Until = name(refused - 1)
		}
		if !o.Sustainable && from >= 0 {
			o.SustainableFrom = name(from)
		}
	}
	if o.Sustainable {
		rest := c.restOf(p.Price)
		o.Rest = Decimal(rest.Epsilon)
		if n := timesIn(rest, p.Also); p.Also.Epsilon > 0 && n > 0 {
			o.RestUntil = name(first + n - 1)
		}
	}
	o.Words = o.describe(b)
	return o, nil
}

// course is the state of a data set during a forecast, with the positions of its cohorts among the
// periods.
type course struct {
	balance     *Balance
	at          map[int]dp.Price // what is left of each charged cohort, by period
	first, last int
}

// forever is more periods than any budget can last: an ε has at most 1e12 units.
const forever = 1 << 50

// timesIn returns how many times price fits into available.
func timesIn(room, price dp.Price) int {
	n := forever
	if price.Epsilon > 0 {
		n = min(n, int(max(room.Epsilon, 0)/price.Epsilon))
	}
	if price.Delta > 0 {
		n = min(n, int(max(room.Delta, 0)/price.Delta))
	}
	return n
}

// coming returns what is left of the cohorts that a model will read, by period. These are the charged
// cohorts, and the uncharged ones up to the first that is read in all of its periods. Later cohorts
// are used equally.
func (c *course) coming() map[int]dp.Price {
	out := map[int]dp.Price{}
	for at, left := range c.at {
		if at > c.first-c.last {
			out[at] = left
		}
	}
	for at := c.first - c.last + 1; ; at++ {
		if _, charged := out[at]; charged {
			continue
		}
		if out[at] = c.balance.ForNew; at >= c.first {
			return out
		}
	}
}

// usesOf returns the number of periods, from the first on, that read the cohort of a period.
func (c *course) usesOf(at int) int { return at + c.last - max(at, c.first) }

// firstRefusal returns the first period whose model is refused, or -1 if none is.
func (c *course) firstRefusal(price dp.Price) int {
	if c.balance.CohortBy == "" {
		return c.first + timesIn(dp.Price{Epsilon: c.balance.Left, Delta: c.balance.LeftDelta}, price)
	}
	refused := -1
	for at, left := range c.coming() {
		if n := timesIn(left, price); n < c.usesOf(at) {
			if period := max(at, c.first) + n; refused < 0 || period < refused {
				refused = period
			}
		}
	}
	return refused
}

// sustainableFrom returns the first period from which on no model would be refused, or -1 if there is
// none.
func (c *course) sustainableFrom(price dp.Price) int {
	if c.balance.CohortBy == "" || timesIn(c.balance.ForNew, price) < c.last {
		return -1
	}
	from := c.first
	for at, left := range c.coming() {
		if n := timesIn(left, price); n < c.last {
			from = max(from, at+c.last-n)
		}
	}
	return from
}

// mostSustainable returns the largest ε of a model with this δ that is never refused, or 0 if there is
// none.
func (c *course) mostSustainable(delta dp.Delta) dp.Epsilon {
	if c.balance.CohortBy == "" {
		return 0
	}
	most := c.balance.ForNew.Epsilon / dp.Epsilon(c.last)
	for at, left := range c.coming() {
		most = min(most, left.Epsilon/dp.Epsilon(c.usesOf(at)))
		if left.Delta/dp.Delta(c.usesOf(at)) < delta {
			return 0
		}
	}
	return most
}

// restOf returns what a sustainable model leaves of every cohort, including those that it no longer
// reads.
func (c *course) restOf(price dp.Price) dp.Price {
	rest := dp.Price{Epsilon: c.balance.Left, Delta: c.balance.LeftDelta}
	for at, left := range c.coming() {
		n := c.usesOf(at)
		rest.Epsilon = min(rest.Epsilon, left.Epsilon-price.Epsilon*dp.Epsilon(n))
		rest.Delta = min(rest.Delta, left.Delta-price.Delta*dp.Delta(n))
	}
	return rest
}

// placeCohorts assigns a period to each charged cohort: its month or, if some cohort is not a month,
// its rank in the order of names, with the last cohort in the period before the first.
func (b *Balance) placeCohorts(from string, months *bool) (map[int]dp.Price, error) {
	at := map[int]dp.Price{}
	if *months = true; b.CohortBy == "" {
		return at, nil
	}
	for _, p := range b.ByPart {
		i, err := monthIndex(p.Name)
		if err != nil {
			*months = false
			break
		}
		at[i] = p.Left
	}
	if *months {
		return at, nil
	}
	ordered := slices.SortedFunc(slices.Values(b.ByPart), func(p, q PartBalance) int { return compareNatural(p.Name, q.Name) })
	clear(at)
	for i, p := range ordered {
		at[i-len(ordered)] = p.Left
	}
	return at, nil
}

// compareNatural orders names, comparing the numbers in them as numbers.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		x, restA, numberA := cutNumber(a)
		y, restB, numberB := cutNumber(b)
		c := 0
		if numberA && numberB {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			c = cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		} else {
			c = cmp.Compare(x, y)
		}
		if c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// cutNumber splits a name after its leading digits, or before the first digit.
func cutNumber(s string) (head, rest string, number bool) {
	number = unicode.IsDigit(rune(s[0]))
	end := strings.IndexFunc(s, func(r rune) bool { return ('0' <= r && r <= '9') != number })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], number
}

// month is the format of the names of cohorts by date.
const month = "2006-01"

func monthIndex(name string) (int, error) {
	at, err := time.Parse(month, name)
	if err != nil || at.Format(month) != name || at.Year() < 1 {
		return 0, dp.Refuse("forecast", "from", "must be a month such as 2027-01", fmt.Sprintf("%.100q", name))
	}
	return at.Year()*12 + int(at.Month()) - 1, nil
}

// lastMonth is the last month of the largest year with four digits.
const lastMonth = 9999*12 + 11

// indexMonth returns the name of a month; one beyond the last is replaced by the last.
func indexMonth(i int) string {
	if i > lastMonth {
		return "9999-12"
	}
	return fmt.Sprintf("%04d-%02d", i/12, i%12+1)
}
