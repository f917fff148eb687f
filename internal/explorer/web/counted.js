// SPDX-License-Identifier: Apache-2.0

// Whether a program counts what this page trains. discreet ui answers with its own file if it has a ledger.
export const counted = false;
