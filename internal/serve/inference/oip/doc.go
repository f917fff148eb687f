// SPDX-License-Identifier: Apache-2.0

// Package oip contains the calls and messages of the Open Inference Protocol over gRPC, generated from
// oip.proto by make proto. It does not interpret their contents.
package oip
