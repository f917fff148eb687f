// SPDX-License-Identifier: Apache-2.0

// Package wire defines the messages between data owners and an aggregator: the task that all of them
// agree on, the round that asks, and the report that answers. Each message has one canonical sequence
// of bytes; parsers accept no other.
//
// A public hash of its name assigns every owner to one slot of one round, and to one question within
// the slot. Therefore no owner is asked twice, and the choice of an owner's question does not depend
// on data.
package wire
