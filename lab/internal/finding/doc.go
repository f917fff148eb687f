// SPDX-License-Identifier: Apache-2.0

// Package finding writes the results of attacks, as JSON, as text and as charts.
package finding
