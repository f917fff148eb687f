// SPDX-License-Identifier: Apache-2.0

// Package export writes a model as a program for another system: a graph in ONNX, a document in PMML
// or a query in SQL. The program codes cells by the model's schema and scores them as the model does.
// It does not need discreet.
package export
