// SPDX-License-Identifier: Apache-2.0

// Package rpc is the calls between the processes of a federation, generated from
// its .proto files: make proto.
package rpc
