// SPDX-License-Identifier: Apache-2.0

package release

import "slices"

// Names returns the names of all files that a release may hold, sorted.
func Names() []string { return slices.Sorted(slices.Values(names)) }
