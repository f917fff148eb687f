// SPDX-License-Identifier: Apache-2.0

// Package rpc contains the calls between the processes of a federation, generated from its .proto
// files by make proto.
package rpc
