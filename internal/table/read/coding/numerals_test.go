// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// naiveNumbers is ParseText by regular expressions.
func naiveNumbers(d *schema.Dialect) func(text string) (float64, bool) {
	decimal := "."
	if d.Decimal == ',' {
		decimal = ","
	}
	separator := map[rune]string{0: "[^\\s\\S]", ',': ",", '.': "[.]", '\'': "['\u2019]", ' ': "[ \u00a0\u202f\u2009]"}[d.Thousands]
	unsigned := fmt.Sprintf("(?:[0-9]{1,3}(?:%s[0-9]{3})+|[0-9]+)?(?:[%s][0-9]*)?(?:[eE][-\u2212+]?[0-9]+)?", separator, decimal)
	leading, trailing := regexp.MustCompile("^[-\u2212+]?"+unsigned+"$"), regexp.MustCompile("^("+unsigned+")[-\u2212]$")
	separators := regexp.MustCompile(separator)
	return func(text string) (float64, bool) {
		if m := trailing.FindStringSubmatch(text); m != nil && d.TrailingMinus {
			text = "-" + m[1]
		} else if !leading.MatchString(text) {
			return 0, false
		}
		text = separators.ReplaceAllString(strings.ReplaceAll(text, "\u2212", "-"), "")
		x, err := strconv.ParseFloat(strings.Replace(text, decimal, ".", 1), 64)
		return x, err == nil
	}
}

func TestNumeralsAgreeWithNaiveTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 47))
	pieces := []string{"1", "23", "456", "000", "1234", ",", ".", "'", " ", "-", "+", "e", "\u2212", "\u2019", "\u00a0", "\u202f", "x"}
	read := 0
	for _, d := range []schema.Dialect{{}, {Thousands: ','}, {Thousands: '\''}, {Thousands: ' '}, {Decimal: ','}, {Decimal: ',', Thousands: '.'},
		{Decimal: ',', Thousands: ' '}, {TrailingMinus: true}, {TrailingMinus: true, Thousands: ','}, {TrailingMinus: true, Decimal: ','}} {
		n, naive := NumeralsOf(&d), naiveNumbers(&d)
		for range 4000 {
			text := ""
			for range 1 + rng.IntN(5) {
				text += pieces[rng.IntN(len(pieces))]
			}
			x, ok := ParseText(&n, text)
			want, wantOK := naive(text)
			if ok != wantOK || ok && x != want {
				t.Fatalf("%q in %+v is %g, %v; want %g, %v", text, d, x, ok, want, wantOK)
			}
			if ok {
				read++
			}
		}
	}
	if read < 4000 {
		t.Errorf("only %d texts are numbers", read)
	}
}

func TestNumerals(t *testing.T) {
	english, german := schema.Dialect{Thousands: ',', TrailingMinus: true}, schema.Dialect{Decimal: ',', Thousands: '.'}
	swiss, french := schema.Dialect{Thousands: '\''}, schema.Dialect{Decimal: ',', Thousands: ' '}
	for _, c := range []struct {
		d    schema.Dialect
		text string
		want string
	}{
		{english, "2,745.48", "2745.48"}, {english, "-6,681.87", "-6681.87"}, {english, "1,234,567", "1.234567e+06"},
		{english, "1234567.5", "1.2345675e+06"}, {english, "1,5", ""}, {english, "1234,567", ""}, {english, "1,2345", ""}, {english, ",123", ""},
		{english, "1,,234", ""}, {english, "1.234,567", ""}, {english, ".1,234", ""}, {english, "1,234e3", "1.234e+06"}, {english, "1e1,234", ""},
		{english, "12-", "-12"}, {english, "1,234.50-", "-1234.5"}, {english, "12\u2212", "-12"}, {english, "-12-", ""}, {english, "-", ""},
		{english, "12+", ""}, {english, "12 -", ""},
		{german, "2.745,48", "2745.48"}, {german, "2745,48", "2745.48"}, {german, "1.5", ""}, {german, "1.500", "1500"}, {german, "12-", ""},
		{german, "1,234.567", ""}, {german, "\u22121.234,5", "-1234.5"}, {german, "1e\u22123", "0.001"},
		{swiss, "1'234.5", "1234.5"}, {swiss, "1\u2019234\u2019567", "1.234567e+06"}, {swiss, "1,234", ""},
		{french, "1 234,5", "1234.5"}, {french, "1\u202f234\u00a0567", "1.234567e+06"}, {french, " 1", ""},
		{schema.Dialect{}, "\u221212.5", "-12.5"}, {schema.Dialect{}, "12-", ""}, {schema.Dialect{}, "1,234", ""}, {schema.Dialect{}, "1 234", ""},
	} {
		n := NumeralsOf(&c.d)
		x, ok := ParseText(&n, []byte(c.text))
		if got := strconv.FormatFloat(x, 'g', -1, 64); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q in %q, %q is %s, %v; want %s", c.text, c.d.Decimal, c.d.Thousands, got, ok, c.want)
		}
	}
}
