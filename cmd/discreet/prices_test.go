// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/train"
)

// priced finds the words about a price, and the numbers that follow them.
var (
	priceWord = regexp.MustCompile(`(?i)epsilon|delta|ε|δ|ρ|\brho\b|price|spent|cost|claim|chance|at most|total|loses`)
	aNumber   = regexp.MustCompile(`\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`)
	noDelta   = regexp.MustCompile(`(?i)(?:delta|δ)["']?(?:\s*[:=]|\s+is)?` +
		`\s*["']?0(?:\.0+)?(?:e[-+]?\d+)?(?:["',;:)\s]|\.?$)`)
)

// least is how far below a price a number may be that stands for it: of small ones half, for no
// other number is so small.
func least(p float64) float64 {
	if p < 0.001 {
		return 0.5 * p
	}
	return 0.97 * p
}

// roundedDown lists the numbers in a text that stand for one of the prices and are below it: near
// it, behind a word about prices, and smaller than each that they are near to.
func roundedDown(text string, prices []float64) (bad []string) {
	for _, word := range priceWord.FindAllStringIndex(text, -1) {
		from := word[1]
		behind := text[from:min(len(text), from+60)]
		cut := from+60 < len(text)
		if end := strings.IndexByte(behind, '\n'); end >= 0 {
			behind, cut = behind[:end], false
		}
		for _, at := range aNumber.FindAllStringIndex(behind, -1) {
			if cut && at[1] == len(behind) {
				continue // it may go on
			}
			x, err := strconv.ParseFloat(behind[at[0]:at[1]], 64)
			near, covered := false, false
			for _, p := range prices {
				if err == nil && x > least(p) && x < 1.03*p {
					near = true
					covered = covered || x >= p*(1-1e-15)
				}
			}
			if near && !covered {
				bad = append(bad, text[word[0]:from]+behind[:at[1]])
			}
		}
	}
	return bad
}

func TestRoundedDownFinds(t *testing.T) {
	for text, want := range map[string]int{
		"epsilon = 0.123456789": 0, "epsilon = 0.1234567 ": 1, "ε per round 0.1235, in all": 0, "a price of 0.12 ": 1,
		"delta 1.2e-7;": 1, "delta 1.3e-7;": 0, "rows 0.1234567 ": 0, "epsilon 0.1234567\n": 1,
	} {
		if got := roundedDown(text, []float64{0.123456789, 0.000000123456789}); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]bool{`"delta": 0,`: true, "delta = 0\n": true, "delta 0e-12;": true,
		"δ = 0.000": true, "delta: 0.0000001": false, "delta = 1e-15": false, "delta 0.5": false} {
		if noDelta.MatchString(text+" ") != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// printers are the command lines that print a price, and the files in which they do. OUT is such a
// file, and PRICE the price of a training.
var printers = []string{
	"plan --schema census.yaml --rows 400 PRICE",
	"plan --schema census.yaml --rows 400 PRICE --json",
	"plan --schema census.yaml --rows 400 PRICE --ledger l.db --dataset d",
	"plan --schema census.yaml --rows 400 PRICE --ledger l.db --dataset d --json",
	"train --data census.csv --schema census.yaml PRICE --model m.json --ledger l.db --dataset d --job one",
	"train --data census.csv --schema census.yaml PRICE --model m.json --ledger l.db --dataset d --job three", // refused
	"show m.json",
	"show m.json --json",
	"card --model m.json --ledger l.db --out OUT.html",
	"card --model m.json --ledger l.db --out OUT.yaml",
	"card --model m.json --ledger l.db --out OUT.txt --format registry --about intended-use=Test --about " +
		"region=Test --about curator=Test --about author=Test --about published=2026-05-01",
	"explain --model m.json --out OUT.html",
	"explain --model m.json --out OUT.html --json",
	"export --model m.json --format onnx --out OUT.onnx",
	"export --model m.json --format pmml --out OUT.pmml",
	"export --model m.json --format sql --out OUT.sql",
	"evaluate --model m.json --data census.csv",
	"evaluate --model m.json --data census.csv --json",
	"predict --model m.json --data census.csv --out OUT.csv",
	"budget show --ledger l.db",
	"budget show --ledger l.db --json",
	"budget history --ledger l.db --dataset d",
	"budget history --ledger l.db --dataset d --json",
	"budget verify --ledger l.db",
}

// Wherever a price is printed it is at least what was paid: no ε, δ or ρ is rounded down, in
// whatever form, and no δ becomes 0.
func TestNoPriceIsRoundedDown(t *testing.T) {
	t.Chdir(sampleFolder(t, 400))
	prices := []struct{ epsilon, delta string }{{"0.723456789", ""}, {"0.333333333", "0.000000123456789"},
		{"0.7", "0.000000000000001"}, {"0.987654321", "0.000212345678987"}}
	prices = prices[:size.Of(2, len(prices))]
	printed, paid := map[string]bool{}, map[dp.Delta]bool{}
	for _, learner := range train.LearnerNames() {
		for _, p := range prices {
			approximate := slices.Contains(train.ApproximateNames(), learner)
			if p.delta != "" && !approximate || p.delta == "" && approximate {
				continue
			}
			words := "--learner " + learner + " --epsilon " + p.epsilon
			declared := "budget init --ledger l.db --dataset d --epsilon 1"
			if p.delta != "" {
				words += " --delta " + p.delta
				if learner == "labeldp" {
					words += " --noise gaussian"
				}
				declared += " --delta 0.002"
			}
			for _, name := range []string{"l.db", "m.json"} {
				os.Remove(name)
			}
			tell(t, strings.Fields(declared))
			texts := map[string]string{}
			for at, line := range printers {
				out := fmt.Sprintf("out%d", at)
				line = strings.NewReplacer("PRICE", words, "OUT", out).Replace(line)
				texts[line] = tell(t, strings.Fields(line))
				made, err := filepath.Glob(out + ".*")
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range made {
					if b, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, ".csv") {
						texts[line+": "+name] = string(b)
					}
					os.Remove(name)
				}
			}
			m, err := model.Load("m.json")
			if err != nil {
				t.Logf("%s: %s", words, texts[strings.Replace(printers[4], "PRICE", words, 1)])
				continue
			}
			printed[learner], paid[m.Privacy.Delta] = true, true
			file, err := os.ReadFile("m.json")
			if err != nil {
				t.Fatal(err)
			}
			texts["m.json"] = string(file)
			checkPrices(t, m, p.epsilon, texts)
		}
	}
	for _, learner := range []string{"brc", "erm", "additive", "grids", "auto"} {
		if !printed[learner] {
			t.Errorf("%s printed no price", learner)
		}
	}
	if len(paid) != len(prices) {
		t.Errorf("of the deltas %d are paid, want all %d", len(paid), len(prices))
	}
}

// short is δ as programs write numbers.
func short(d dp.Delta) string { return strconv.FormatFloat(float64(d)/dp.Femto, 'g', -1, 64) }

func checkPrices(t *testing.T, m *model.Model, epsilon string, texts map[string]string) {
	t.Helper()
	delta := "" // if it saves nothing it is not paid
	if m.Privacy.Delta > 0 {
		delta = m.Privacy.Delta.String()
	}
	all := []float64{m.Privacy.Epsilon.Float()}
	if m.Privacy.Delta > 0 {
		all = append(all, float64(m.Privacy.Delta)/dp.Femto)
	}
	each := map[string]float64{} // the least price of a mechanism's releases
	for _, e := range m.Privacy.Bill {
		p := e.Epsilon.Float()
		if e.Rho > 0 {
			p = e.Rho.Float()
		}
		if old, known := each[e.Mechanism]; !known || p < old {
			each[e.Mechanism] = p
		}
	}
	for _, p := range each {
		all = append(all, p)
	}
	said := 0
	for line, text := range texts {
		for _, bad := range roundedDown(text, all) {
			t.Errorf("epsilon %s, delta %s: %s prints %q", epsilon, delta, line, bad)
		}
		if strings.Contains(text, epsilon) {
			said++
		}
		if delta == "" || strings.HasPrefix(line, "budget show") {
			continue
		}
		if zero := noDelta.FindString(text); zero != "" {
			t.Errorf("epsilon %s, delta %s: %s prints %q", epsilon, delta, line, zero)
		}
		if wants := strings.HasPrefix(line, "card") || strings.HasPrefix(line, "show") || strings.HasPrefix(line, "plan") ||
			line == "m.json"; wants && !strings.Contains(text, delta) && !strings.Contains(text, short(m.Privacy.Delta)) &&
			text != "" {
			t.Errorf("epsilon %s, delta %s: %s does not print delta:\n%.300s", epsilon, delta, line, text)
		}
	}
	if said < 10 {
		t.Errorf("epsilon %s: %d texts print it", epsilon, said)
	}
}
