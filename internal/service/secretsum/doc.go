// SPDX-License-Identifier: Apache-2.0

// Package secretsum is a secret sum over the network (package secsum): what its
// collector signs beforehand, and the calls of collectors and participants to the
// helpers that hold shares.
//
// A collector asks each helper for the
// name of its memory (Meet), signs a Sum (Sum.Sign), lets participants see it, and
// has it opened (Collection.Run). A participant checks a Sum (Signed.Open, and
// that it is the sum it was promised), splits its vector by Sum.Protocol, signs
// each share with its key in the roster (Seal), keeps what it made, and sends it
// (Deliver).
//
// The name of a sum is the hash of its bytes, and every message of it carries that
// name: shares given for one sum are worth nothing in another.
package secretsum
