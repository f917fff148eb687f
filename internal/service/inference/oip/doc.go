// SPDX-License-Identifier: Apache-2.0

// Package oip is the calls and envelopes of the Open Inference Protocol over gRPC,
// generated from oip.proto by make proto: it never knows what they carry.
package oip
