// SPDX-License-Identifier: Apache-2.0

// Package librarytest holds the library to what it promises, from outside.
package librarytest
