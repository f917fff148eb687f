// SPDX-License-Identifier: Apache-2.0

// Package librarytest tests the promises of the library from outside.
package librarytest
