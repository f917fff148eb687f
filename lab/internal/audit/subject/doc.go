// SPDX-License-Identifier: Apache-2.0

// Package subject makes subjects of audits: of learners by name, and of other
// programs.
package subject
