// SPDX-License-Identifier: Apache-2.0

// Package deepcopy copies plain data, so that who holds the original can neither see nor change the copy.
package deepcopy

import (
	"fmt"
	"reflect"
	"sync"
)

// Of returns x with copies of everything it refers to. x is plain data: it panics at a function, a
// channel, an interface, or a field that is not exported and refers to something, for it could not
// separate these from the original.
func Of[T any](x T) T {
	out := x
	if v := reflect.ValueOf(&out).Elem(); !isFlat(v.Type()) {
		separate(v)
	}
	return out
}

// separate replaces whatever v refers to by copies.
func separate(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(v.Elem())
			separateUnlessFlat(to.Elem())
			v.Set(to)
		}
	case reflect.Slice:
		if !v.IsNil() {
			to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(to, v)
			if !isFlat(v.Type().Elem()) {
				for i := range to.Len() {
					separate(to.Index(i))
				}
			}
			v.Set(to)
		}
	case reflect.Array:
		for i := range v.Len() {
			separate(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			separateUnlessFlat(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("deepcopy: a %s is not plain data", v.Type()))
	}
}

func separateUnlessFlat(v reflect.Value) {
	if !isFlat(v.Type()) {
		separate(v)
	}
}

var flat sync.Map // reflect.Type → bool

// isFlat reports whether values of type t refer to nothing that can change.
func isFlat(t reflect.Type) bool {
	if known, ok := flat.Load(t); ok {
		return known.(bool)
	}
	is := true
	switch t.Kind() {
	case reflect.Array:
		is = isFlat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			is = is && isFlat(t.Field(i).Type)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		is = false
	}
	flat.Store(t, is)
	return is
}
