// SPDX-License-Identifier: Apache-2.0

// Package rpc is the calls between the processes of a federation, generated from
// its .proto files: make proto.
//
// Room rules. Owns: calls and their envelopes. Imports: Connect, protobuf. Must
// never see: what the envelopes carry.
package rpc
