// SPDX-License-Identifier: Apache-2.0

// Package draft reads and edits the text of a schema that is not finished yet: it outlines what the text
// says and lacks, and changes a fact without touching comments or order.
package draft
