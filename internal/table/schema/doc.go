// SPDX-License-Identifier: Apache-2.0

// Package schema says what is known about a table before anyone looks at it:
// columns, bounds, levels, classes, roles, the label and the text format of its files.
// It is the only place such facts come from; nothing is ever read off the data.
package schema
