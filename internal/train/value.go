// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"fmt"
	"strconv"
)

// Value is an option that is parsed from text, like a flag.
type Value interface {
	String() string
	Set(string) error
	Type() string
}

type integer struct{ p *int }

func (v integer) String() string { return strconv.Itoa(*v.p) }
func (v integer) Type() string   { return "int" }

func (v integer) Set(s string) (err error) {
	if *v.p, err = strconv.Atoi(s); err != nil {
		return errors.New("must be a whole number")
	}
	return nil
}

type decimal struct{ p *float64 }

func (v decimal) String() string { return fmt.Sprintf("%.4g", *v.p) }
func (v decimal) Type() string   { return "number" }

func (v decimal) Set(s string) (err error) {
	if *v.p, err = strconv.ParseFloat(s, 64); err != nil {
		return errors.New("must be a number")
	}
	return nil
}

// word is one of a few names, which its user checks.
type word[T ~string] struct{ p *T }

func (v word[T]) String() string     { return string(*v.p) }
func (v word[T]) Type() string       { return "name" }
func (v word[T]) Set(s string) error { *v.p = T(s); return nil }

// Int is a whole-number option.
func Int(p *int) Value { return integer{p} }

// Number is a numeric option.
func Number(p *float64) Value { return decimal{p} }

// Word is an option with a few possible names.
func Word[T ~string](p *T) Value { return word[T]{p} }
