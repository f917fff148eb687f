// SPDX-License-Identifier: Apache-2.0

// Package export writes a model as a program of another system: a graph in ONNX, a
// query in SQL. What is written codes cells by the model's schema and scores them as
// the model does; it needs no discreet.
package export
