// SPDX-License-Identifier: Apache-2.0

// Package statistic is the sums over rows that a table can be asked for, one a file: the columns it
// reads, what a row adds and how that is bounded, and its message. Engines add up any of them, and
// know none.
package statistic

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Checked is a statistic that JSON keeps.
type Checked interface {
	engine.Statistic
	// Check refuses what no table of schema s can answer, and completes what a message leaves out.
	Check(s *schema.Schema) error
}

type decoder func(s *schema.Schema, text []byte) (engine.Statistic, error)

var (
	kinds    = map[reflect.Type]string{}
	decoders = map[string]decoder{}
)

// Register lets statistics of type S be messages of a kind.
func Register[S Checked](kind string) string {
	kinds[reflect.TypeFor[S]()] = kind
	decoders[kind] = func(s *schema.Schema, text []byte) (engine.Statistic, error) {
		var out S
		if err := json.Unmarshal(text, &out); err != nil {
			return nil, fmt.Errorf("statistic: malformed %s: %w", kind, err)
		}
		return out, out.Check(s)
	}
	return kind
}

// Encode writes a statistic in JSON. Numbers keep every bit.
func Encode(of engine.Statistic) (kind string, text []byte, err error) {
	if kind = kinds[reflect.TypeOf(of)]; kind == "" {
		return "", nil, fmt.Errorf("statistic: %T is not registered", of)
	}
	text, err = json.Marshal(of)
	return kind, text, err
}

// Decode reads a statistic of a table of schema s from what Encode wrote.
func Decode(s *schema.Schema, kind string, text []byte) (engine.Statistic, error) {
	read := decoders[kind]
	if read == nil {
		return nil, fmt.Errorf("statistic: there is no kind %q", kind)
	}
	return read(s, text)
}

// Sum asks t for of. What fits no table of its schema is refused before a row is read: otherwise
// whether a fold fails would depend on the cells that it meets.
func Sum(ctx context.Context, t engine.Table, of Checked) ([]int64, error) {
	if err := of.Check(t.Schema()); err != nil {
		return nil, err
	}
	return t.Sum(ctx, of)
}

// ErrParts refuses a message that lacks what its kind needs.
func ErrParts(kind string) error { return fmt.Errorf("statistic: %s must have its parts", kind) }

// sums are the sums of an adder that are kept as they are asked for.
type sums []int64

func (s sums) AddTo(into []int64) {
	for i, x := range s {
		into[i] += x
	}
}

// cut is the first n of sums, and the others.
func cut(sums []int64, n int) (first, rest []int64) { return sums[:n:n], sums[n:] }

// cutLists is the first so many lists of n of sums, and the others.
func cutLists(sums []int64, lists, n int) (first [][]int64, rest []int64) {
	for range lists {
		var list []int64
		list, sums = cut(sums, n)
		first = append(first, list)
	}
	return first, sums
}

// room is scratch of n numbers, s if there is enough.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
