// SPDX-License-Identifier: Apache-2.0

package private

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// stepCall follows a call to whatever may be called. v is nil where the results are lost.
func (f *flow) stepCall(c *call, in ssa.CallInstruction, v *ssa.Call) {
	common := in.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if v != nil {
			f.stepBuiltin(c, b.Name(), v)
		}
		return
	}
	args := common.Args
	if common.IsInvoke() {
		args = append([]ssa.Value{common.Value}, args...)
	}
	results := make([]taint, common.Signature().Results().Len())
	for _, fn := range f.callees(c, common) {
		f.callOne(c, in, fn, args, results)
	}
	if v == nil {
		return
	}
	if len(results) == 1 {
		f.set(c, v, results[0])
		return
	}
	was := c.tuples[v]
	if was == nil {
		was = make([]taint, len(results))
		c.tuples[v] = was
	}
	for i := range results {
		f.note(&was[i], results[i])
	}
}

// callOne follows a call of fn, nil for a function that is not known.
func (f *flow) callOne(c *call, in ssa.CallInstruction, fn *ssa.Function, args []ssa.Value, results []taint) {
	common := in.Common()
	name := ""
	if fn != nil {
		name = f.nameOf(fn)
	} else if common.IsInvoke() {
		name = f.nameOfMethod(common)
	}
	if answer, ok := f.rules.Answers[name]; ok { // a question: answers hold what their fields say
		for i := range results {
			if t := common.Signature().Results().At(i).Type(); answer && !isError(t) && !f.hasFields(t) {
				results[i] |= shaped(itself, t) &^ lengthOf(t)
			}
		}
		return
	}
	if f.rules.isExit(name) {
		f.checkRelease(c, in, args)
		return
	}
	if fn == nil || len(fn.Blocks) == 0 || len(fn.Params) != len(args) {
		f.callUnknown(c, in, name, args, results)
		return
	}
	taints, functions := make([]taint, len(args)), make([]*ssa.Function, len(args))
	for i, a := range args {
		taints[i], functions[i] = f.of(c, a), f.functionOf(c, a, 0)
	}
	into := f.enter(fn, taints, functions, c)
	for i, t := range into.out {
		f.hold(c, args[i], t)
	}
	for i, t := range into.results {
		results[i] |= t
	}
}

// checkRelease wants that how many numbers leave is public.
func (f *flow) checkRelease(c *call, in ssa.CallInstruction, args []ssa.Value) {
	for _, a := range args {
		if _, list := a.Type().Underlying().(*types.Slice); list && f.of(c, a)&itself != 0 {
			f.find(c, in.Pos(), "how many numbers leave depends on a private number")
		}
		if b, ok := a.Type().Underlying().(*types.Basic); ok && b.Kind() == types.String && f.of(c, a) != 0 {
			f.find(c, in.Pos(), "the label of a release depends on a private number")
		}
	}
}

// callUnknown is a call of what has no body here: whatever goes in may come out.
func (f *flow) callUnknown(c *call, in ssa.CallInstruction, name string, args []ssa.Value, results []taint) {
	var all taint
	for _, a := range args {
		all |= f.of(c, a)
		if f.holdsPrivate(a.Type()) && f.hasFields(a.Type()) {
			all |= itself
		}
	}
	if all == 0 {
		return
	}
	if pkg := packageOf(in.Common()); !f.rules.isPure(pkg) {
		f.find(c, in.Pos(), "a private number is given to "+name+" of "+pkg)
	}
	for i := range results {
		if t := in.Common().Signature().Results().At(i).Type(); !isError(t) {
			results[i] |= shaped(all&(itself|inside), t)
		}
	}
	for _, a := range args {
		switch t := a.Type().Underlying().(type) {
		case *types.Pointer:
			if !f.hasFields(a.Type()) {
				f.hold(c, a, shaped(all, t.Elem()))
			}
		case *types.Slice:
			f.hold(c, a, inside)
		case *types.Signature:
			f.callBack(c, a, all)
		}
	}
}

// callBack is a function that one without a body may call with whatever it was given.
func (f *flow) callBack(c *call, v ssa.Value, all taint) {
	fn := f.functionOf(c, v, 0)
	if fn == nil || len(fn.Blocks) == 0 {
		return
	}
	args := make([]taint, len(fn.Params))
	for i, p := range fn.Params {
		if !f.hasFields(p.Type()) {
			args[i] = shaped(all&inside>>1|all&itself, p.Type())
		}
	}
	f.enter(fn, args, make([]*ssa.Function, len(args)), c)
}

// functionOf is the function that a value is known to be, nil where it may be several.
func (f *flow) functionOf(c *call, v ssa.Value, depth int) *ssa.Function {
	if _, ok := v.Type().Underlying().(*types.Signature); !ok && depth == 0 {
		if p, ok := v.Type().Underlying().(*types.Pointer); !ok {
			return nil
		} else if _, ok := p.Elem().Underlying().(*types.Signature); !ok {
			return nil
		}
	}
	if depth > 8 {
		return nil
	}
	switch v := v.(type) {
	case *ssa.Function:
		return v
	case *ssa.MakeClosure:
		return v.Fn.(*ssa.Function)
	case *ssa.ChangeType:
		return f.functionOf(c, v.X, depth+1)
	case *ssa.FreeVar:
		return f.bound[v]
	case *ssa.Parameter:
		for i, p := range v.Parent().Params {
			if p == v && c != nil && c.fn == v.Parent() {
				return c.functions[i]
			}
		}
	case *ssa.UnOp:
		return f.functionOf(c, v.X, depth+1)
	case *ssa.Alloc:
		return f.onlyStored(c, v, depth)
	case *ssa.Call:
		return f.onlyReturned(v, depth)
	}
	return nil
}

// onlyStored is the one function that a variable is ever set to.
func (f *flow) onlyStored(c *call, v *ssa.Alloc, depth int) (one *ssa.Function) {
	for _, in := range *v.Referrers() {
		if st, ok := in.(*ssa.Store); ok && st.Addr == v {
			fn := f.functionOf(c, st.Val, depth+1)
			if fn == nil || one != nil && one != fn {
				return nil
			}
			one = fn
		}
	}
	return one
}

// onlyReturned is the one function that a call returns.
func (f *flow) onlyReturned(v *ssa.Call, depth int) (one *ssa.Function) {
	callee := v.Call.StaticCallee()
	if callee == nil {
		return nil
	}
	for _, b := range callee.Blocks {
		if r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && len(r.Results) == 1 {
			fn := f.functionOf(nil, r.Results[0], depth+1)
			if fn == nil || one != nil && one != fn {
				return nil
			}
			one = fn
		}
	}
	return one
}

func packageOf(common *ssa.CallCommon) string {
	if common.IsInvoke() {
		if p := common.Method.Pkg(); p != nil {
			return p.Path()
		}
		return "an interface"
	}
	if fn := common.StaticCallee(); fn != nil {
		if fn.Origin() != nil {
			fn = fn.Origin()
		}
		if fn.Pkg != nil {
			return fn.Pkg.Pkg.Path()
		}
		if o := fn.Object(); o != nil && o.Pkg() != nil {
			return o.Pkg().Path()
		}
	}
	return "a function value"
}

func (f *flow) nameOfMethod(common *ssa.CallCommon) string {
	name := types.TypeString(common.Value.Type(), nil) + "." + common.Method.Name()
	return strings.ReplaceAll(strings.ReplaceAll(name, f.rules.Module+"/internal/", ""), f.rules.Module+"/", "")
}

// callees are the functions that a call may be of; nil stands for ones that are not known.
func (f *flow) callees(c *call, common *ssa.CallCommon) []*ssa.Function {
	if fn := common.StaticCallee(); fn != nil {
		return []*ssa.Function{fn}
	}
	if fn := f.functionOf(c, common.Value, 0); !common.IsInvoke() && fn != nil {
		return []*ssa.Function{fn}
	}
	var all []*ssa.Function
	if common.IsInvoke() {
		if _, ok := f.rules.Answers[f.nameOfMethod(common)]; ok {
			return []*ssa.Function{nil}
		}
		iface := common.Value.Type().Underlying().(*types.Interface)
		for _, t := range f.concrete {
			if types.Implements(t, iface) {
				if fn := f.prog.LookupMethod(t, common.Method.Pkg(), common.Method.Name()); fn != nil {
					all = append(all, fn)
				}
			}
		}
	} else {
		for _, fn := range f.taken {
			if types.Identical(fn.Signature, common.Signature()) {
				all = append(all, fn)
			}
		}
	}
	if len(all) == 0 {
		return []*ssa.Function{nil}
	}
	return all
}

func (f *flow) stepBuiltin(c *call, name string, v *ssa.Call) {
	args := v.Call.Args
	switch name {
	case "len", "cap":
		t := f.of(c, args[0])
		if b, ok := args[0].Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 && t != 0 {
			t |= itself
		}
		f.set(c, v, t&itself)
	case "append":
		t := f.of(c, args[0])
		if len(args) > 1 {
			t |= f.of(c, args[1])
		}
		f.set(c, v, t)
	case "copy":
		f.hold(c, args[0], f.of(c, args[1])&inside)
		f.set(c, v, (f.of(c, args[0])|f.of(c, args[1]))&itself)
	case "min", "max", "real", "imag", "complex":
		var t taint
		for _, a := range args {
			t |= f.of(c, a)
		}
		f.set(c, v, t)
	case "print", "println":
		if slices.ContainsFunc(args, func(a ssa.Value) bool { return f.of(c, a) != 0 }) {
			f.find(c, v.Pos(), "a private number is printed")
		}
	}
}
