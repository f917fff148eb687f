// SPDX-License-Identifier: Apache-2.0

// Package secretsum implements a secret sum (package secsum) over the network: the description that
// its collector signs, and the calls of collectors and participants to the helpers that hold shares.
//
// A collector asks each helper for the name of its store (Meet), signs a Sum (Sum.Sign), shows it to
// participants, and opens it (Collection.Run). A participant verifies a Sum (Signed.Open, and that it
// is the promised sum), splits its vector by Sum.Protocol, signs each share with its key in the roster
// (Seal), stores the shares, and sends them (Deliver).
//
// The ID of a sum is the hash of its bytes, and every message contains it: shares for one sum are
// useless in another.
package secretsum
