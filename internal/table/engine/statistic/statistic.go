// SPDX-License-Identifier: Apache-2.0

// Package statistic is the sums over rows that a table can be asked for, one a file: the columns it
// reads, what a row adds and how that is bounded, and its message. Engines add up any of them, and
// know none.
package statistic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// message is what engine.Statistic's Message returns, with its way back.
type message interface {
	// statistic is what the message says, refused if no table of schema s can answer it.
	statistic(s *schema.Schema) (engine.Statistic, error)
}

type decoder func(s *schema.Schema, text []byte) (engine.Statistic, error)

var decoders = map[string]decoder{}

// register lets statistics of a kind be read, whose message is an M.
func register[M message](kind string) string {
	decoders[kind] = func(s *schema.Schema, text []byte) (engine.Statistic, error) {
		var m M
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("statistic: malformed %s: %w", kind, err)
		}
		return m.statistic(s)
	}
	return kind
}

// Kinds lists the kinds of statistics in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(decoders)) }

// Decode reads a statistic of a table of schema s from its Message in JSON. What no table of s can
// answer is refused.
func Decode(s *schema.Schema, kind string, text []byte) (engine.Statistic, error) {
	read := decoders[kind]
	if read == nil {
		return nil, fmt.Errorf("statistic: there is no kind %q", kind)
	}
	return read(s, text)
}

// sum asks t for s. What fits no table of its schema is refused before a row is read: otherwise
// whether a fold fails would depend on the cells that it meets.
func sum(ctx context.Context, t engine.Table, s engine.Statistic) ([]int64, error) {
	if _, err := s.Message().(message).statistic(t.Schema()); err != nil {
		return nil, err
	}
	return t.Sum(ctx, s)
}

// errParts refuses a message that lacks what its kind needs.
func errParts(kind string) error { return fmt.Errorf("statistic: %s must have its parts", kind) }

// sums are the sums of an adder that are kept as they are asked for.
type sums []int64

// AddTo implements engine.Adder.
func (s sums) AddTo(into []int64) {
	for i, x := range s {
		into[i] += x
	}
}

// cut is the first n of sums, and the others.
func cut(sums []int64, n int) (first, rest []int64) { return sums[:n:n], sums[n:] }

// room is scratch of n numbers, s if there is enough.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// cutLists is the first so many lists of n of sums, and the others.
func cutLists(sums []int64, lists, n int) (first [][]int64, rest []int64) {
	for range lists {
		var list []int64
		list, sums = cut(sums, n)
		first = append(first, list)
	}
	return first, sums
}
