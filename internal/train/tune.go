// SPDX-License-Identifier: Apache-2.0

package train

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/tune"
)

// Tune makes a request to choose among candidates, each NAME[:OPTION=VALUE]..., at one price. Tuning
// is treated as one learner. It sets p.Candidates. Its errors are *RequestError.
func Tune(p tune.Params, candidates []string, epsilon string) (*Request, error) {
	eps, err := dp.ParseEpsilon(epsilon)
	if err != nil {
		return nil, &RequestError{err}
	}
	if p.Candidates, err = parseCandidates(candidates); err != nil {
		return nil, &RequestError{err}
	}
	l := &Learner{Name: "tune", Private: true, Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
		p := p
		p.Epsilon = pr.Epsilon
		return AsPlan(p.Plan(s, rows))
	}}
	return &Request{Learner: l, Price: Price{Epsilon: eps}, given: map[string]string{
		"candidates": strings.Join(candidates, "\n"),
		"method":     string(p.Method),
		"loss":       string(p.Loss),
		"held-out":   strconv.FormatFloat(p.HeldOut, 'g', -1, 64),
		"patience":   strconv.Itoa(p.Patience),
	}}, nil
}

// parseCandidates parses private learners with their options, and refuses duplicates.
func parseCandidates(specs []string) (out []tune.Candidate, err error) {
	seen := map[string]bool{}
	for _, spec := range specs {
		l, name, err := ParseLearner("tune", "candidates", spec)
		switch {
		case err != nil:
			return nil, err
		case !l.Private:
			return nil, &dp.ParamError{Op: "tune", Param: "candidates", Want: "must be private learners",
				Got: strconv.Quote(spec)}
		case seen[spec]:
			return nil, &dp.ParamError{Op: "tune", Param: "candidates", Want: "must differ", Got: strconv.Quote(spec)}
		}
		seen[spec] = true
		out = append(out,
			tune.Candidate{Name: name, Plan: func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
				return l.Plan(Price{Epsilon: eps}, s, rows)
			}})
	}
	return out, nil
}

// ReadCandidates reads a file of candidates, one per line. It skips empty lines and lines that begin
// with #. An error gives the number of an invalid line and does not repeat it, because the line may be
// a row of a person's table. Its errors are *RequestError.
func ReadCandidates(text string) (specs []string, err error) {
	n := 0
	refuse := func(want string) error {
		return &RequestError{&dp.ParamError{Op: "candidates", Param: fmt.Sprintf("line %d", n), Want: want, Got: "another",
			Hint: "a candidate is NAME[:OPTION=VALUE]...; with --learners the error names the option"}}
	}
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := parseCandidates([]string{line}); err != nil {
			return nil, refuse("must be a private learner with options that it has")
		}
		if slices.Contains(specs, line) {
			return nil, refuse("must differ from those before it")
		}
		specs = append(specs, line)
	}
	return specs, nil
}
