// SPDX-License-Identifier: Apache-2.0

package private

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// taint is what is private of a value.
type taint uint8

const (
	// itself: the number, the text, how long a list is, which keys a map has.
	itself taint = 1 << iota
	// inside: what a list, a map or a box holds.
	inside
)

// A value of a type with fields has no taint of its own: fields have, each one in all
// values of its type together. A pointer has that of what it points to.

// flow follows private values through functions until nothing new is found.
type flow struct {
	rules    *Rules
	prog     *ssa.Program
	fields   map[*types.Var]taint
	partly   map[*types.Var][]string // fields that are private in some packages alone
	globals  map[*ssa.Global]taint
	captured map[*ssa.FreeVar]taint
	written  map[*ssa.FreeVar]taint         // of captured, what came from inside
	bound    map[*ssa.FreeVar]*ssa.Function // functions that others have captured
	calls    map[string]*call
	order    []*call
	taken    []*ssa.Function // functions that are used as values
	concrete []types.Type
	changed  bool
	findings map[string]Finding
	used     map[string]bool // kernels in which something was found
}

// call is a function with the taints of its arguments.
type call struct {
	fn   *ssa.Function
	name string
	args []taint
	// functions are those that arguments are known to be, nil for others.
	functions []*ssa.Function
	out       []taint // what it has put into its arguments
	results   []taint
	values    map[ssa.Value]taint
	tuples    map[ssa.Value][]taint
	by        *call
	branches  []*ssa.BasicBlock // that end by looking at a private number
	looks     bool              // at private numbers, as kernels may
}

// enter is the call of fn with these taints, which is followed from now on.
func (f *flow) enter(fn *ssa.Function, args []taint, functions []*ssa.Function, by *call) *call {
	key := fmt.Sprintf("%p %v", fn, args)
	for _, known := range functions {
		if known != nil {
			key += fmt.Sprintf(" %p", known)
		} else {
			key += " -"
		}
	}
	if c := f.calls[key]; c != nil {
		return c
	}
	c := &call{fn: fn, name: f.nameOf(fn), args: slices.Clone(args), functions: functions,
		out: make([]taint, len(fn.Params)), results: make([]taint, fn.Signature.Results().Len()),
		values: map[ssa.Value]taint{},
		tuples: map[ssa.Value][]taint{}, by: by}
	for i, p := range fn.Params {
		c.values[p] = args[i]
	}
	f.calls[key] = c
	f.order = append(f.order, c)
	f.changed = true
	return c
}

// nameOf is a function's name without the module's path; that of a function inside another
// is the outer one's.
func (f *flow) nameOf(fn *ssa.Function) string {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if fn.Origin() != nil {
		fn = fn.Origin()
	}
	name := strings.ReplaceAll(fn.RelString(nil), f.rules.Module+"/internal/", "")
	name = strings.ReplaceAll(name, f.rules.Module+"/", "")
	name = strings.TrimSuffix(name, "$bound")
	return strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name)
}

// run follows every call until nothing changes.
func (f *flow) run() {
	for f.changed = true; f.changed; {
		f.changed = false
		for i := 0; i < len(f.order); i++ {
			f.follow(f.order[i])
		}
	}
}

func (f *flow) follow(c *call) {
	if _, ok := f.rules.Skipped[c.name]; ok {
		return
	}
	for _, b := range c.fn.Blocks {
		for _, in := range b.Instrs {
			f.step(c, in)
		}
	}
	if c.looks { // what it branches on is in what it returns
		for i := range c.results {
			t := c.fn.Signature.Results().At(i).Type()
			if !isError(t) && !f.hasFields(t) && !f.rules.isClean(c.name) {
				f.note(&c.results[i], shaped(itself|inside, t)&^lengthOf(t))
			}
		}
	}
}

// lengthOf is itself for lists: that a kernel branches does not make them longer.
func lengthOf(t types.Type) taint {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer, *types.Signature:
		return itself
	}
	return 0
}

func (f *flow) note(at *taint, add taint) {
	if *at|add != *at {
		*at |= add
		f.changed = true
	}
}

// of is what is private of a value.
func (f *flow) of(c *call, v ssa.Value) taint {
	switch v := v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.Builtin:
		return 0
	case *ssa.Global:
		return f.globals[v]
	case *ssa.FreeVar:
		return f.captured[v]
	}
	return c.values[v]
}

func (f *flow) set(c *call, v ssa.Value, add taint) {
	if was := c.values[v]; was|add != was {
		c.values[v] = was | add
		f.changed = true
	}
}

// hold notes that a box was given something private, wherever it is known by another name.
func (f *flow) hold(c *call, v ssa.Value, add taint) {
	if fv, ok := v.(*ssa.FreeVar); ok && f.written[fv]&add != add {
		f.written[fv] |= add
		f.changed = true
	}
	if add == 0 || f.of(c, v)&add == add {
		return
	}
	switch v := v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.Builtin:
		return
	case *ssa.Global:
		f.globals[v] |= add
		f.changed = true
		return
	case *ssa.FreeVar:
		f.captured[v] |= add
		f.written[v] |= add
		f.changed = true
		return
	}
	f.set(c, v, add)
	switch v := v.(type) {
	case *ssa.Parameter:
		for i, p := range c.fn.Params {
			if p == v {
				f.note(&c.out[i], add)
			}
		}
	case *ssa.Slice:
		f.hold(c, v.X, add&inside)
	case *ssa.Phi:
		if isBox(v.Type()) {
			for _, e := range v.Edges {
				f.hold(c, e, add&inside)
			}
		}
	case *ssa.UnOp:
		if v.Op == token.MUL && isBox(v.Type()) {
			f.store(c, v.X, add)
		}
	case *ssa.FieldAddr, *ssa.IndexAddr:
		f.store(c, v, add)
	case *ssa.ChangeType:
		f.hold(c, v.X, add)
	case *ssa.Convert:
		if isBox(v.X.Type()) {
			f.hold(c, v.X, add)
		}
	case *ssa.Call:
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			f.hold(c, v.Call.Args[0], add&inside)
		}
	}
}

// store notes that something private was written to a place.
func (f *flow) store(c *call, place ssa.Value, add taint) {
	if add == 0 {
		return
	}
	switch p := place.(type) {
	case *ssa.FieldAddr:
		f.storeField(c, p, add)
	case *ssa.IndexAddr:
		f.hold(c, p.X, inside)
	default:
		f.hold(c, place, add)
	}
}

func (f *flow) storeField(c *call, p *ssa.FieldAddr, add taint) {
	field := fieldOf(p.X.Type(), p.Field)
	if owner := f.rules.public(p.X.Type()); owner != "" {
		f.find(c, p.Pos(), "a private number becomes part of "+owner+", which is public")
		return
	}
	if f.partly[field] != nil {
		return
	}
	if was := f.fields[field]; was|add != was {
		f.fields[field] = was | add
		f.changed = true
	}
}

// fieldOf is a field of a type with fields, or of what a pointer to one points to.
func fieldOf(t types.Type, i int) *types.Var {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying().(*types.Struct).Field(i).Origin()
}

// element is what is private of an element of a box.
func (f *flow) element(box taint, t types.Type) taint {
	if box&inside == 0 || f.hasFields(t) {
		return 0
	}
	return shaped(itself, t) &^ lengthOf(t)
}

// shaped is that something is private of a value of type t: of a box what it holds, too.
func shaped(b taint, t types.Type) taint {
	_, basic := t.Underlying().(*types.Basic)
	switch {
	case b == 0:
		return 0
	case basic:
		return itself
	case isBox(t):
		return b | inside
	}
	return itself | inside
}

// isBox reports whether a value holds others that it can be asked for.
func isBox(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array, *types.Pointer, *types.Chan:
		return true
	}
	return false
}

// hasFields reports whether a type, or what it points to, is one of ours with fields.
func (f *flow) hasFields(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return false
	}
	named, ok := t.(*types.Named)
	return !ok || named.Obj().Pkg() != nil && f.rules.ours(named.Obj().Pkg().Path())
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// find notes what must not be, but in kernels.
func (f *flow) find(c *call, pos token.Pos, what string) {
	if entry := f.rules.kernel(c.name); entry != "" {
		if f.used[entry] = true; !c.looks {
			c.looks, f.changed = true, true
		}
		return
	}
	at := f.prog.Fset.Position(pos)
	if !pos.IsValid() {
		at = f.prog.Fset.Position(c.fn.Pos())
	}
	key := fmt.Sprintf("%s:%d %s", at.Filename, at.Line, what)
	if _, ok := f.findings[key]; ok {
		return
	}
	trace := ""
	for by, n := c.by, 0; by != nil && n < 3; by, n = by.by, n+1 {
		trace += ", called by " + by.name
	}
	f.findings[key] = Finding{File: at.Filename, Line: at.Line, Function: c.name, What: what + trace}
}
