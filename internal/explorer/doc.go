// SPDX-License-Identifier: Apache-2.0

// Package explorer is the product in a browser: the page (web), its engine as WebAssembly (engine, worker), what can
// be planned before rows are read (planning), the text of a schema while somebody writes it (draft), and the local
// server of discreet ui that trains and charges (serve).
//
// To change here: a chart is in web/charts.js, a sentence of the page in web, what it computes in engine or planning. Go
// tests do not run the page's JavaScript; browser/run.js does. Rows never leave the page, and what a page shows of a
// table that is not paid for stays in it.
//
// Judged by: go test ./internal/explorer/..., make explorer-check, make explorer-browser.
package explorer
