// SPDX-License-Identifier: Apache-2.0

// Package schema declares what is known about a table before anyone looks at it: columns, bounds,
// levels, classes, roles, the label and the text format of its files. It is the only source of such
// facts; nothing is inferred from the data.
package schema
