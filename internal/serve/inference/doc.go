// SPDX-License-Identifier: Apache-2.0

// Package inference serves models by the Open Inference Protocol, version 2, over HTTP and gRPC at one
// address. It handles models only: no loader of tables, no learner and no noise is linked into it. Its
// logs and metrics never contain a cell.
package inference
