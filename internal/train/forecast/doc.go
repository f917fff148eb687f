// SPDX-License-Identifier: Apache-2.0

// Package forecast estimates how much a plan can learn. It invents tables from a schema alone, with
// labels that follow a law of a stated strength, trains on them, and compares the result with the law.
package forecast
