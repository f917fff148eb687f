// SPDX-License-Identifier: Apache-2.0

// Package onnx writes files in the Open Neural Network Exchange format. It covers what a graph over
// rows needs: nodes, constants and the shapes of inputs and outputs. It does not depend on models.
// Field numbers are those of the format's onnx.proto.
package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Type is the type of the elements of a tensor.
type Type int

const (
	Int64  Type = 7
	String Type = 8
	Bool   Type = 9
	Double Type = 11
)

const (
	irVersion  = 9  // onnx 1.14 and newer read it
	opset      = 18 // of the standard operators
	opsetTexts = 20 // likewise; provides RegexFullMatch
	opsetML    = 4  // of ai.onnx.ml; provides LabelEncoder for any type
	mlDomain   = "ai.onnx.ml"
)

// Graph is a graph under construction. Every value has a name and is the output of one node, an input,
// or a constant.
type Graph struct {
	Name     string // of the graph
	Producer string // program and version that writes the file
	Doc      string // a description for readers
	Prefix   string // of the names that Const and Op assign; no input or output begins with it
	nodes    [][]byte
	consts   [][]byte
	inputs   [][]byte
	outputs  [][]byte
	metadata [][]byte
	made     int // number of names assigned
	opset    int64
}

// Tensor is a constant. Exactly one of its lists is not nil, and the product of Shape is the list's
// length.
type Tensor struct {
	Shape   []int
	Doubles []float64
	Ints    []int64
	Strings []string
}

// Ints is a constant of one dimension.
func Ints(x ...int64) Tensor { return Tensor{Shape: []int{len(x)}, Ints: x} }

// Strings is a constant of one dimension.
func Strings(x ...string) Tensor { return Tensor{Shape: []int{len(x)}, Strings: x} }

// AddInput declares an input with any number of rows and the given number of columns.
func (g *Graph) AddInput(name string, t Type, columns int) {
	g.inputs = append(g.inputs, valueInfo(name, t, columns))
}

// AddOutput declares that a value is an output, with any number of rows and the given number of
// columns. With 0 columns, rows are the only dimension.
func (g *Graph) AddOutput(name string, t Type, columns int) {
	g.outputs = append(g.outputs, valueInfo(name, t, columns))
}

// AddMetadata adds a property to the file.
func (g *Graph) AddMetadata(key, value string) {
	g.metadata = append(g.metadata, appendText(appendText(nil, 1, key), 2, value))
}

// Const adds a constant and returns its name.
func (g *Graph) Const(t Tensor) string {
	name := g.newName("constant")
	g.consts = append(g.consts, t.encode(name))
	return name
}

func (g *Graph) newName(what string) string {
	g.made++
	return g.Prefix + what + "_" + strconv.Itoa(g.made)
}

// Attr is an attribute of a node: an int64, a string, a Tensor, a []int64 or a []string.
type Attr struct {
	Name  string
	Value any
}

// Op adds a node with one output and returns the output's name. Inputs that are ""
// are left out.
func (g *Graph) Op(op string, inputs []string, attrs ...Attr) string {
	out := g.newName(op)
	g.OpTo(op, inputs, []string{out}, attrs...)
	return out
}

// OpTo adds a node whose outputs have the given names.
func (g *Graph) OpTo(op string, inputs, outputs []string, attrs ...Attr) {
	var b []byte
	for _, in := range inputs {
		b = appendText(b, 1, in)
	}
	for _, out := range outputs {
		b = appendText(b, 2, out)
	}
	b = appendText(b, 3, g.newName("node"))
	b = appendText(b, 4, op)
	for _, a := range attrs {
		b = appendBytes(b, 5, a.encode())
	}
	g.opset = max(g.opset, opset)
	switch op {
	case "LabelEncoder":
		b = appendText(b, 7, mlDomain)
	case "RegexFullMatch":
		g.opset = opsetTexts
	}
	g.nodes = append(g.nodes, b)
}

// Marshal returns the bytes of the file.
func (g *Graph) Marshal() []byte {
	var graph []byte
	for _, n := range g.nodes {
		graph = appendBytes(graph, 1, n)
	}
	graph = appendText(graph, 2, g.Name)
	for _, c := range g.consts {
		graph = appendBytes(graph, 5, c)
	}
	graph = appendText(graph, 10, g.Doc)
	for _, in := range g.inputs {
		graph = appendBytes(graph, 11, in)
	}
	for _, out := range g.outputs {
		graph = appendBytes(graph, 12, out)
	}
	file := appendInt(nil, 1, irVersion)
	file = appendText(file, 2, g.Producer)
	file = appendBytes(file, 7, graph)
	file = appendBytes(file, 8, appendInt(appendText(nil, 1, ""), 2, g.opset))
	file = appendBytes(file, 8, appendInt(appendText(nil, 1, mlDomain), 2, opsetML))
	for _, m := range g.metadata {
		file = appendBytes(file, 14, m)
	}
	return file
}

func valueInfo(name string, t Type, columns int) []byte {
	shape := appendBytes(nil, 1, appendText(nil, 2, "rows"))
	if columns > 0 {
		shape = appendBytes(shape, 1, appendInt(nil, 1, int64(columns)))
	}
	tensor := appendBytes(appendInt(nil, 1, int64(t)), 2, shape)
	return appendBytes(appendText(nil, 1, name), 2, appendBytes(nil, 1, tensor))
}

func (t *Tensor) encode(name string) (b []byte) {
	for _, d := range t.Shape {
		b = appendInt(b, 1, int64(d))
	}
	var raw []byte
	switch {
	case t.Doubles != nil:
		b = appendInt(b, 2, int64(Double))
		for _, x := range t.Doubles {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
	case t.Ints != nil:
		b = appendInt(b, 2, int64(Int64))
		for _, x := range t.Ints {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
		}
	default:
		b = appendInt(b, 2, int64(String))
		for _, s := range t.Strings {
			b = appendText(b, 6, s)
		}
	}
	b = appendText(b, 8, name)
	if t.Strings == nil {
		b = appendBytes(b, 9, raw)
	}
	return b
}

func (a *Attr) encode() []byte {
	b := appendText(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case int64:
		return appendInt(appendInt(b, 3, v), 20, 2)
	case string:
		return appendInt(appendText(b, 4, v), 20, 3)
	case Tensor:
		return appendInt(appendBytes(b, 5, v.encode("")), 20, 4)
	case []int64:
		for _, x := range v {
			b = appendInt(b, 8, x)
		}
		return appendInt(b, 20, 7)
	case []string:
		for _, s := range v {
			b = appendText(b, 9, s)
		}
		return appendInt(b, 20, 8)
	}
	panic(fmt.Sprintf("onnx: attribute %s of type %T", a.Name, a.Value))
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendText(b []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendInt(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}
