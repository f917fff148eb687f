// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"sort"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// tensor is a value while a graph is evaluated: of at most two dimensions, with one of
// its lists in use. Truth values are integers.
type tensor struct {
	shape []int
	x     []float64
	i     []int64
	s     []string
}

func (t *tensor) len() int { return max(len(t.x), len(t.i), len(t.s)) }

// sides are the rows and columns, of one dimension as a row's.
func (t *tensor) sides() (rows, cols int) {
	switch len(t.shape) {
	case 0:
		return 1, 1
	case 1:
		return 1, t.shape[0]
	}
	return t.shape[0], t.shape[1]
}

// field is one field of a message.
type field struct {
	number protowire.Number
	n      int64
	b      []byte
}

func parseFields(t *testing.T, b []byte) (out []field) {
	t.Helper()
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal("a tag is cut short")
		}
		b = b[n:]
		f := field{number: number}
		if kind == protowire.VarintType {
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			f.n = int64(v)
		} else {
			f.b, n = protowire.ConsumeBytes(b)
		}
		if n < 0 {
			t.Fatal("a field is cut short")
		}
		b = b[n:]
		out = append(out, f)
	}
	return out
}

func parseTensor(t *testing.T, b []byte) (name string, out *tensor) {
	out = new(tensor)
	kind := int64(0)
	for _, f := range parseFields(t, b) {
		switch f.number {
		case 1:
			out.shape = append(out.shape, int(f.n))
		case 2:
			kind = f.n
		case 6:
			out.s = append(out.s, string(f.b))
		case 8:
			name = string(f.b)
		case 9:
			for k := 0; k < len(f.b); k += 8 {
				bits := binary.LittleEndian.Uint64(f.b[k:])
				if kind == 11 {
					out.x = append(out.x, math.Float64frombits(bits))
				} else {
					out.i = append(out.i, int64(bits))
				}
			}
		}
	}
	return name, out
}

// evaluateGraph runs a file on named inputs: a second, slow reading of the operators'
// definitions, independent of the writer.
func evaluateGraph(t *testing.T, file []byte, values map[string]*tensor) map[string]*tensor {
	t.Helper()
	var nodes [][]byte
	for _, f := range parseFields(t, file) {
		if f.number != 7 {
			continue
		}
		for _, g := range parseFields(t, f.b) {
			switch g.number {
			case 1:
				nodes = append(nodes, g.b)
			case 5:
				name, c := parseTensor(t, g.b)
				values[name] = c
			}
		}
	}
	for _, n := range nodes {
		evaluateNode(t, n, values)
	}
	return values
}

func evaluateNode(t *testing.T, node []byte, values map[string]*tensor) {
	var in []*tensor
	var out, op, pattern string
	number := map[string]int64{}
	keys := map[string]int64{}
	var texts []string
	var codes []int64
	for _, f := range parseFields(t, node) {
		switch f.number {
		case 1:
			v := values[string(f.b)]
			if v == nil {
				t.Fatalf("%s is used before it is made", f.b)
			}
			in = append(in, v)
		case 2:
			out = string(f.b)
		case 4:
			op = string(f.b)
		case 5:
			var name string
			for _, a := range parseFields(t, f.b) {
				switch a.number {
				case 1:
					name = string(a.b)
				case 3:
					number[name] = a.n
				case 4:
					pattern = string(a.b)
				case 8:
					codes = append(codes, a.n)
				case 9:
					texts = append(texts, string(a.b))
				}
			}
		}
	}
	for k, text := range texts {
		keys[text] = codes[k]
	}
	if values[out] != nil {
		t.Fatalf("%s is made twice", out)
	}
	values[out] = operate(t, op, in, number, keys, pattern)
}

func operate(t *testing.T, op string, in []*tensor, number, keys map[string]int64, pattern string) *tensor {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	one := map[string]func(x float64) float64{
		"Sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, "Exp": math.Exp, "Log": math.Log,
		"Sqrt": math.Sqrt, "Round": math.RoundToEven, "Abs": math.Abs, "Floor": math.Floor, "Neg": func(x float64) float64 { return -x },
	}
	two := map[string]func(x, y float64) float64{
		"Sum": func(x, y float64) float64 { return x + y }, "Add": func(x, y float64) float64 { return x + y },
		"Sub": func(x, y float64) float64 { return x - y }, "Mul": func(x, y float64) float64 { return x * y },
		"Div": func(x, y float64) float64 { return x / y }, "Max": math.Max, "Min": math.Min,
	}
	compare := map[string]func(x, y float64) bool{
		"GreaterOrEqual": func(x, y float64) bool { return x >= y }, "Less": func(x, y float64) bool { return x < y },
		"Equal": func(x, y float64) bool { return x == y },
		"Or":    func(x, y float64) bool { return x+y > 0 }, "And": func(x, y float64) bool { return x*y > 0 },
	}
	switch {
	case one[op] != nil:
		out := &tensor{shape: in[0].shape}
		for _, x := range in[0].x {
			out.x = append(out.x, one[op](x))
		}
		return out
	case two[op] != nil:
		out := in[0]
		for _, next := range in[1:] {
			out = broadcast([]*tensor{out, next}, func(at []int, into *tensor) {
				if out.x != nil {
					into.x = append(into.x, two[op](out.x[at[0]], next.x[at[1]]))
				} else {
					into.i = append(into.i, int64(two[op](float64(out.i[at[0]]), float64(next.i[at[1]]))))
				}
			})
		}
		return out
	case compare[op] != nil:
		a, b := in[0].reals(), in[1].reals()
		return broadcast(in, func(at []int, into *tensor) {
			into.i = append(into.i, int64(truth(compare[op](a[at[0]], b[at[1]]))))
		})
	}
	switch op {
	case "Identity":
		return in[0]
	case "IsNaN", "IsInf":
		out := &tensor{shape: in[0].shape}
		for _, x := range in[0].x {
			out.i = append(out.i, int64(truth(op == "IsNaN" && math.IsNaN(x) || op == "IsInf" && math.IsInf(x, 0))))
		}
		return out
	case "Where":
		return broadcast(in, func(at []int, into *tensor) {
			from := 2
			if in[0].i[at[0]] == 1 {
				from = 1
			}
			into.take(in[from], at[from])
		})
	case "LabelEncoder":
		out := &tensor{shape: in[0].shape}
		for _, s := range in[0].s {
			code, ok := keys[s]
			if !ok {
				code = number["default_int64"]
			}
			out.i = append(out.i, code)
		}
		return out
	case "RegexFullMatch":
		all := regexp.MustCompile("^(?:" + pattern + ")$")
		out := &tensor{shape: in[0].shape}
		for _, s := range in[0].s {
			out.i = append(out.i, int64(truth(all.MatchString(s))))
		}
		return out
	case "Cast": // of truth values to integers
		return in[0]
	case "Reshape": // to one dimension
		return &tensor{shape: []int{in[0].len()}, x: in[0].x, i: in[0].i, s: in[0].s}
	case "ReduceSum", "ArgMax": // over the columns, keeping them
		rows, cols := in[0].sides()
		out := &tensor{shape: []int{rows, 1}}
		for r := range rows {
			switch {
			case op == "ArgMax":
				row := in[0].x[r*cols:][:cols]
				out.i = append(out.i, int64(slices.Index(row, slices.Max(row))))
			case in[0].x != nil:
				sum := 0.0
				for _, x := range in[0].x[r*cols:][:cols] {
					sum += x
				}
				out.x = append(out.x, sum)
			default:
				sum := int64(0)
				for _, x := range in[0].i[r*cols:][:cols] {
					sum += x
				}
				out.i = append(out.i, sum)
			}
		}
		return out
	case "Softmax":
		rows, cols := in[0].sides()
		out := &tensor{shape: in[0].shape}
		for r := range rows {
			row := in[0].x[r*cols:][:cols]
			sum := 0.0
			for _, x := range row {
				sum += math.Exp(x - slices.Max(row))
			}
			for _, x := range row {
				out.x = append(out.x, math.Exp(x-slices.Max(row))/sum)
			}
		}
		return out
	case "Gather":
		if number["axis"] == 1 {
			rows, cols := in[0].sides()
			out := &tensor{shape: []int{rows, len(in[1].i)}}
			for r := range rows {
				for _, at := range in[1].i {
					out.take(in[0], r*cols+int(at))
				}
			}
			return out
		}
		width := in[0].len() / in[0].shape[0]
		out := &tensor{shape: append(slices.Clone(in[1].shape), in[0].shape[1:]...)}
		for _, at := range in[1].i {
			for k := range width {
				out.take(in[0], int(at)*width+k)
			}
		}
		return out
	}
	t.Fatalf("operator %s is not known to the test", op)
	return nil
}

// reals are numbers or integers as numbers.
func (t *tensor) reals() []float64 {
	out := slices.Clone(t.x)
	for _, x := range t.i {
		out = append(out, float64(x))
	}
	return out
}

// take appends an element of from.
func (t *tensor) take(from *tensor, at int) {
	switch {
	case from.x != nil:
		t.x = append(t.x, from.x[at])
	case from.i != nil:
		t.i = append(t.i, from.i[at])
	default:
		t.s = append(t.s, from.s[at])
	}
}

// broadcast calls each for all places of the common shape.
func broadcast(in []*tensor, each func(at []int, into *tensor)) *tensor {
	rows, cols := 1, 1
	for _, t := range in {
		r, c := t.sides()
		rows, cols = max(rows, r), max(cols, c)
	}
	into := &tensor{shape: []int{rows, cols}}
	at := make([]int, len(in))
	for r := range rows {
		for c := range cols {
			for k, t := range in {
				height, width := t.sides()
				at[k] = min(r, height-1)*width + min(c, width-1)
			}
			each(at, into)
		}
	}
	return into
}

func TestConstantsAreUsed(t *testing.T) {
	// Constants that no one uses make other readers warn.
	m := loadKit(t, "v3-ballots")
	file, err := ONNX(m)
	if err != nil {
		t.Fatal(err)
	}
	used, given := map[string]bool{}, []string(nil)
	for _, f := range parseFields(t, file) {
		if f.number != 7 {
			continue
		}
		for _, g := range parseFields(t, f.b) {
			switch g.number {
			case 1:
				for _, n := range parseFields(t, g.b) {
					if n.number == 1 {
						used[string(n.b)] = true
					}
				}
			case 5:
				name, _ := parseTensor(t, g.b)
				given = append(given, name)
			}
		}
	}
	sort.Strings(given)
	for _, name := range given {
		if !used[name] {
			t.Errorf("constant %s is not used", name)
		}
	}
}
