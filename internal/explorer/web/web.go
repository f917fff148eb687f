// SPDX-License-Identifier: Apache-2.0

// Package web is the files of the explorer's page.
package web

import "embed"

// Files are the page's, by name.
//
//go:embed *.html *.css *.js *.svg
var Files embed.FS
