// SPDX-License-Identifier: Apache-2.0

package schema

import _ "embed" // schema.schema.json

// JSONSchema describes schema files in JSON Schema, draft 2020-12. Editors use it to complete and
// check a file as it is written. Everything that Parse accepts is valid under it. The converse does
// not hold, since it cannot express relations between values, such as lower < upper.
//
//go:embed schema.schema.json
var JSONSchema []byte
