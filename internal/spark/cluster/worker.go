// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"

	"github.com/spf13/cobra"
)

// NewWorker returns the command that executors of a cluster run for engine spark; users do not type
// it. It answers messages from in on out until in ends.
func NewWorker(in io.Reader, out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Hidden: true,
		Short:  "encode rows and answer questions about them, or score them, for engine spark",
		Long: `Worker reads messages from standard input and answers them on standard output.
Executors of Spark run it for train and predict with engine spark.`,
		Example: `  discreet worker`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return ServeWorker(c.Context(), in, out) },
	}
}
