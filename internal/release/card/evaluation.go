// SPDX-License-Identifier: Apache-2.0

package card

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Evaluation is what a private evaluation released about the model.
type Evaluation struct {
	Epsilon    float64    `json:"epsilon" yaml:"epsilon"`
	Delta      float64    `json:"delta,omitempty" yaml:"delta,omitempty"`
	Counted    bool       `json:"counted" yaml:"counted"`
	Confidence float64    `json:"confidence" yaml:"confidence"`
	By         string     `json:"by,omitempty" yaml:"by,omitempty"`
	Numbers    []Measured `json:"numbers" yaml:"numbers"`
	// Untold are the groups that the released counts show to be too small.
	Untold []string `json:"too_small_to_tell,omitempty" yaml:"too_small_to_tell,omitempty"`
}

// Measured is a number of all rows or of one group, with its interval.
type Measured struct {
	Group string  `json:"group,omitempty" yaml:"group,omitempty"`
	Name  string  `json:"number" yaml:"number"`
	Value float64 `json:"value" yaml:"value"`
	Low   float64 `json:"low" yaml:"low"`
	High  float64 `json:"high" yaml:"high"`
}

// measured are the numbers that a card shows, and their words.
var measured = [][2]string{{"accuracy", "accuracy"}, {"auc", "AUC"}, {"log_loss", "log loss"}, {"positive_rate", "rate of the positive class"},
	{"predicted_rate", "share predicted positive"}, {"recall", "recall"}, {"precision", "precision"},
	{"score_minus_rate", "mean score minus that rate"}}

// AddEvaluationText adds the report of a private evaluation of this model, as evaluate --epsilon --json prints it.
func (c *Card) AddEvaluationText(text []byte) error {
	var of struct {
		Evaluation
		Private bool
		Model   string `json:"model_sha256"`
		Groups  []map[string]any
	}
	var all map[string]any
	if json.Unmarshal(text, &of) != nil || json.Unmarshal(text, &all) != nil || !of.Private ||
		!(of.Epsilon > 0 && of.Confidence > 0 && of.Confidence < 1) || !isLine(of.By) {
		return errors.New("card: the evaluation must be the report of a private evaluation, in JSON")
	}
	if of.Model != c.Checksum {
		return errors.New("card: the evaluation must be of this model, and names another or two")
	}
	if !agree(all) {
		return errors.New("card: the evaluation must have each estimate in its interval")
	}
	e := &of.Evaluation
	e.Numbers, e.Untold = takeNumbers("", all), nil
	for _, group := range of.Groups {
		name, ok := group["group"].(string)
		if !ok || name == "" || !isLine(name) {
			return errors.New("card: the evaluation must name its groups, each on one line")
		}
		if told, _ := group["told"].(bool); !told {
			e.Untold = append(e.Untold, name)
			continue
		}
		e.Numbers = append(e.Numbers, takeNumbers(name, group)...)
	}
	c.Evaluation = e
	return nil
}

// isLine reports whether a text fits on one line of a card.
func isLine(s string) bool {
	return len(s) <= 200 && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

// agree reports whether every number of a report lies in the interval beside it, those of groups and points included.
func agree(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !agree(x) })
	case map[string]any:
		for name, x := range v {
			value, known := x.(float64)
			if low, high, ok := intervalOf(v, name); known && ok && !(low <= value && value <= high) || !agree(x) {
				return false
			}
		}
	}
	return true
}

// intervalOf finds the interval of a number.
func intervalOf(all map[string]any, name string) (low, high float64, ok bool) {
	interval, _ := all[name+"_interval"].([]any)
	if len(interval) != 2 {
		return 0, 0, false
	}
	low, isLow := interval[0].(float64)
	high, isHigh := interval[1].(float64)
	return low, high, isLow && isHigh
}

// takeNumbers finds the numbers that are known.
func takeNumbers(group string, all map[string]any) (out []Measured) {
	for _, m := range measured {
		value, known := all[m[0]].(float64)
		if low, high, ok := intervalOf(all, m[0]); known && ok {
			out = append(out, Measured{group, m[0], value, low, high})
		}
	}
	return out
}

// describeEvaluation says how well the model predicts; nothing without a private evaluation.
func (c *Card) describeEvaluation() []section {
	e := c.Evaluation
	if e == nil {
		return nil
	}
	price := fmt.Sprintf("epsilon = %v", e.Epsilon)
	if e.Delta > 0 {
		price += fmt.Sprintf(", delta = %v", e.Delta)
	}
	counted := "A ledger counted it."
	if !e.Counted {
		counted = "No ledger counted it."
	}
	lines := []line{{"Measured", []string{fmt.Sprintf("By a private evaluation (%s) of rows that its holder states were held out of training. "+
		"Each interval covers its noise and the sampling of rows, with %.9g %% confidence. %s", price, 100*e.Confidence, counted)}}}
	if e.By != "" {
		lines[0].Text = append(lines[0].Text, "All intervals of the groups by "+e.By+" hold together.")
	}
	words := map[string]string{}
	for _, m := range measured {
		words[m[0]] = m[1]
	}
	for _, n := range e.Numbers {
		key := "All rows"
		if n.Group != "" {
			key = e.By + ": " + n.Group
		}
		if last := &lines[len(lines)-1]; last.Key != key {
			lines = append(lines, line{Key: key})
		}
		last := &lines[len(lines)-1]
		last.Text = append(last.Text, fmt.Sprintf("%s %.3f (%.3f to %.3f)", words[n.Name], n.Value, n.Low, n.High))
	}
	if e.Untold != nil {
		lines = append(lines, line{"Too few rows to tell", []string{strings.Join(e.Untold, ", ")}})
	}
	return []section{{"How well the model predicts", lines}}
}
