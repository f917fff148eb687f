// SPDX-License-Identifier: Apache-2.0

// Package combine makes one classifier from many parties' votes. It collects votes from a folder or
// from parties over the network, or their secret sum, charges a ledger, and stores the result there.
package combine
