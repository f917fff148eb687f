// SPDX-License-Identifier: Apache-2.0

// Package subject makes subjects of audits: from learners by name, and from other programs.
package subject
