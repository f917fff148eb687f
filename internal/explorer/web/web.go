// SPDX-License-Identifier: Apache-2.0

// Package web contains the files of the explorer's page.
package web

import "embed"

// Files holds the page's files, by name.
//
//go:embed *.html *.css *.js *.svg
var Files embed.FS
