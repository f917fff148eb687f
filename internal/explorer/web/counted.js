// SPDX-License-Identifier: Apache-2.0

// Whether a program counts what this page trains, and whether the page takes files. discreet ui answers with its
// own file if it has a ledger, and make site writes another: tables belong on their owners' machines.
export const counted = false, files = true;
