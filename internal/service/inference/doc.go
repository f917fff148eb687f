// SPDX-License-Identifier: Apache-2.0

// Package inference serves models by the Open Inference Protocol, version 2, over HTTP
// and gRPC at one address. It holds models alone: no loader of tables, no learner and
// no noise is linked into it, and what it logs and counts never has a cell in it.
package inference
