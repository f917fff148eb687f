// SPDX-License-Identifier: Apache-2.0

// Package forecast says what a plan can learn: it invents tables from a schema alone, whose labels
// follow a law of a stated strength, trains on them, and compares with what the law allows.
package forecast
