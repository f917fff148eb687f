// SPDX-License-Identifier: Apache-2.0

package schema

import _ "embed" // schema.schema.json

// JSONSchema is the form of a schema file as JSON Schema, draft 2020-12, by which editors complete
// and check one as it is written. Whatever Parse reads follows it; the converse does not hold, since
// it knows no relations between values, such as lower < upper.
//
//go:embed schema.schema.json
var JSONSchema []byte
