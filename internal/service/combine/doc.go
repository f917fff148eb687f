// SPDX-License-Identifier: Apache-2.0

// Package combine makes one classifier of many parties' votes: it collects votes from
// a folder or from parties that serve, or their secret sum, charges a ledger, and
// keeps the result there.
package combine
