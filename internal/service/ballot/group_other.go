// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package ballot

import "os/exec"

// inGroup leaves c as it is: only it is ended early, not what it has started.
func inGroup(*exec.Cmd) {}
