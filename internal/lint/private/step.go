// SPDX-License-Identifier: Apache-2.0

package private

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// step follows one instruction.
func (f *flow) step(c *call, in ssa.Instruction) {
	switch v := in.(type) {
	case *ssa.If:
		if f.of(c, v.Cond)&itself != 0 {
			if !slices.Contains(c.branches, v.Block()) {
				c.branches, f.changed = append(c.branches, v.Block()), true
			}
			f.find(c, posOf(v), "what happens next depends on a private number")
		}
	case *ssa.Panic:
		if f.of(c, v.X) != 0 {
			f.find(c, v.Pos(), "a panic tells a private number")
		}
	case *ssa.Send:
		if f.of(c, v.X) != 0 {
			f.hold(c, v.Chan, inside)
		}
	case *ssa.Return:
		for i, r := range v.Results {
			if !isError(r.Type()) && !f.rules.isClean(c.name) {
				f.note(&c.results[i], f.of(c, r))
			}
		}
	case *ssa.Store:
		f.stepStore(c, v)
	case *ssa.MapUpdate:
		if f.of(c, v.Key)&itself != 0 {
			f.hold(c, v.Map, itself|inside)
		}
		if f.of(c, v.Value) != 0 {
			f.hold(c, v.Map, inside)
		}
	case *ssa.Go:
		f.stepCall(c, v, nil)
	case *ssa.Defer:
		f.stepCall(c, v, nil)
	case *ssa.Call:
		f.stepCall(c, v, v)
	case ssa.Value:
		f.set(c, v, f.valueOf(c, v))
	}
}

// decides reports whether a private number has decided that a block is run.
func (c *call) decides(b *ssa.BasicBlock) bool {
	for _, at := range c.branches {
		for side, to := range at.Succs {
			if len(to.Preds) == 1 && to.Dominates(b) && !leads(at.Succs[1-side], to, at, map[*ssa.BasicBlock]bool{}) {
				return true
			}
		}
	}
	return false
}

// leads reports whether a block leads to another, but through a third.
func leads(from, to, but *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) bool {
	if from == to {
		return true
	}
	if from == but || seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(from.Succs, func(next *ssa.BasicBlock) bool { return leads(next, to, but, seen) })
}

// posOf is where an instruction is, or one near it.
func posOf(v ssa.Instruction) token.Pos {
	if branch, ok := v.(*ssa.If); ok && branch.Cond.Pos().IsValid() {
		return branch.Cond.Pos()
	}
	list := v.Block().Instrs
	at := slices.Index(list, v)
	for _, in := range slices.Concat(list[at:], list[:at]) {
		if in.Pos().IsValid() {
			return in.Pos()
		}
	}
	return token.NoPos
}

func (f *flow) stepStore(c *call, v *ssa.Store) {
	add := f.of(c, v.Val)
	if at, ok := v.Addr.(*ssa.IndexAddr); ok && f.of(c, at.Index)&itself != 0 {
		add |= itself // which one was written
	}
	if c.decides(v.Block()) && !f.rules.isClean(c.name) {
		add |= shaped(itself, v.Val.Type()) &^ lengthOf(v.Val.Type()) // whether it was
	}
	f.store(c, v.Addr, add)
	if isBox(v.Val.Type()) { // the same box under two names
		f.hold(c, v.Val, f.of(c, v.Addr)&inside)
	}
}

// valueOf is what is private of the result of an instruction.
func (f *flow) valueOf(c *call, v ssa.Value) (t taint) {
	switch v := v.(type) {
	case *ssa.BinOp:
		return shaped((f.whole(c, v.X)|f.whole(c, v.Y))&itself, v.Type())
	case *ssa.UnOp:
		return f.of(c, v.X)
	case *ssa.Phi:
		for _, e := range v.Edges {
			t |= f.of(c, e)
		}
		return t
	case *ssa.FieldAddr:
		return f.field(c, v.X.Type(), v.Field)
	case *ssa.Field:
		return f.field(c, v.X.Type(), v.Field)
	case *ssa.IndexAddr:
		return f.indexed(c, v.X, v.Index, v.Type().Underlying().(*types.Pointer).Elem())
	case *ssa.Index:
		return f.indexed(c, v.X, v.Index, v.Type())
	case *ssa.Lookup:
		return f.lookup(c, v)
	case *ssa.Slice:
		t = f.of(c, v.X)
		for _, bound := range []ssa.Value{v.Low, v.High, v.Max} {
			if bound != nil {
				t |= f.of(c, bound) & itself
			}
		}
		return t
	case *ssa.MakeSlice:
		return f.of(c, v.Len) & itself
	case *ssa.Convert:
		return shaped(f.of(c, v.X), v.Type())
	case *ssa.ChangeType:
		return f.of(c, v.X)
	case *ssa.ChangeInterface:
		return f.of(c, v.X)
	case *ssa.SliceToArrayPointer:
		return f.of(c, v.X)
	case *ssa.TypeAssert:
		if v.CommaOk {
			c.tuples[v] = []taint{f.of(c, v.X), 0}
			return 0
		}
		return f.of(c, v.X)
	case *ssa.MakeInterface:
		t = f.of(c, v.X)
		if f.opensUp(v.Type()) && (t != 0 || f.holdsPrivate(v.X.Type())) {
			f.find(c, posOf(v), "a private number becomes a value of "+types.TypeString(v.Type(), types.RelativeTo(nil))+
				", which anybody can print, marshal or compare")
		}
		return t
	case *ssa.MakeClosure:
		f.capture(c, v)
	case *ssa.Range:
		return f.of(c, v.X)
	case *ssa.Next:
		f.next(c, v)
	case *ssa.Extract:
		if tuple := c.tuples[v.Tuple]; tuple != nil {
			return tuple[v.Index]
		}
	}
	return 0
}

// whole is what is private of a value that is compared or computed with as a whole.
func (f *flow) whole(c *call, v ssa.Value) taint {
	t := f.of(c, v)
	if _, ok := v.Type().Underlying().(*types.Array); ok && t&inside != 0 {
		t |= itself
	}
	return t
}

func (f *flow) field(c *call, t types.Type, i int) taint {
	v := fieldOf(t, i)
	in := f.partly[v]
	if f.rules.isPublicHere(c.name, t) || in != nil && !slices.ContainsFunc(in, func(p string) bool {
		return strings.HasPrefix(c.name, p+".")
	}) {
		return 0
	}
	return f.fields[v]
}

func (f *flow) indexed(c *call, box, index ssa.Value, elem types.Type) taint {
	t := f.element(f.of(c, box), elem)
	if f.of(c, index)&itself != 0 && !f.hasFields(elem) {
		t |= shaped(itself, elem)
	}
	return t
}

func (f *flow) lookup(c *call, v *ssa.Lookup) taint {
	elem := v.Type()
	if v.CommaOk {
		elem = elem.(*types.Tuple).At(0).Type()
	}
	t := f.indexed(c, v.X, v.Index, elem)
	if v.CommaOk {
		c.tuples[v] = []taint{t, (f.of(c, v.X) | f.of(c, v.Index)) & itself}
		return 0
	}
	return t
}

func (f *flow) next(c *call, v *ssa.Next) {
	box := f.of(c, v.Iter)
	t := v.Type().(*types.Tuple)
	value := box
	if !v.IsString {
		value = f.element(box, t.At(2).Type())
	}
	c.tuples[v] = []taint{box & itself, box & itself, value}
}

// capture ties what a function inside another knows to the outer one's variables.
func (f *flow) capture(c *call, v *ssa.MakeClosure) {
	fn := v.Fn.(*ssa.Function)
	for i, b := range v.Bindings {
		fv := fn.FreeVars[i]
		if t := f.of(c, b); f.captured[fv]|t != f.captured[fv] {
			f.captured[fv] |= t
			f.changed = true
		}
		f.hold(c, b, f.written[fv])
		if known := f.functionOf(c, b, 0); known != nil {
			f.bound[fv] = known
		}
	}
	f.enter(fn, make([]taint, len(fn.Params)), make([]*ssa.Function, len(fn.Params)), c)
}

// opensUp reports whether a value of an interface is one that anybody can print, marshal or
// compare: one with a method of ours says what it is for.
func (f *flow) opensUp(t types.Type) bool {
	i := t.Underlying().(*types.Interface)
	for k := range i.NumMethods() {
		if p := i.Method(k).Pkg(); p != nil && f.rules.ours(p.Path()) {
			return false
		}
	}
	return true
}

// holdsPrivate reports whether values of a type have private fields.
func (f *flow) holdsPrivate(t types.Type) bool {
	return holds(t, map[types.Type]bool{}, func(v *types.Var) bool { return f.fields[v.Origin()] != 0 })
}

func holds(t types.Type, seen map[types.Type]bool, is func(*types.Var) bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), seen, is)
	case *types.Slice:
		return holds(u.Elem(), seen, is)
	case *types.Array:
		return holds(u.Elem(), seen, is)
	case *types.Map:
		return holds(u.Elem(), seen, is)
	case *types.Struct:
		for i := range u.NumFields() {
			if v := u.Field(i); is(v) || holds(v.Type(), seen, is) {
				return true
			}
		}
	}
	return false
}
