// SPDX-License-Identifier: Apache-2.0

// Package finding writes the results of audits, as JSON and as text.
package finding
