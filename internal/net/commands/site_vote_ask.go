// SPDX-License-Identifier: Apache-2.0

package network

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
)

// asking holds the flags of combine that fetch votes from parties over the network.
type asking struct {
	as
	*combine.Asking
}

func (f *asking) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.Peers, "sites", "",
		"ask parties over the network, a `file`: an address, a public key and a name on each line")
	c.Flags().StringVar(&f.dir, "certs", "", "with --sites, the `directory` of certificates, as certs makes it")
	c.Flags().StringVar(&f.caller, "as", "", "with --sites, the certificate's role and name, `ROLE/NAME`, e.g. combiner/uni")
	c.Flags().DurationVar(&f.Wait, "wait", 10*time.Minute, "with --sites, the `time` that parties have to answer")
	c.Flags().StringVar(&f.Kind, "kind", string(multiparty.Labels),
		"with --sites, votes that parties send: labels, probabilities or coefficients")
	c.Flags().StringToStringVar(&f.Helpers, "helpers", nil,
		"with --sites and --secure-sum, the helpers that hold the shares: `NAME=ADDRESS,...`")
	c.Flags().BoolVar(&f.Proofs, "prove-ranges", false,
		"with --sites and --secure-sum, have parties prove that their numbers are in range also if that takes more than "+
			"1 MiB a helper")
	commands.CompleteFlag(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	cli.AddSection(c, "Votes over the network", "sites", "certs", "as", "wait", "kind", "helpers", "prove-ranges")
	cli.Reads(c, "sites", "certs")
	c.MarkFlagsRequiredTogether("sites", "certs", "as")
}

// checkFlags refuses flags for fetching votes that contradict each other.
func (f *asking) checkFlags(c *cobra.Command, method multiparty.Method, inSecret bool) error {
	if f.Peers == "" {
		for _, name := range []string{"wait", "kind", "helpers", "prove-ranges"} {
			if c.Flags().Changed(name) {
				return cli.Refuse("site vote", name, "may be given with --sites only", nil)
			}
		}
		return nil
	}
	if method == multiparty.Average && !c.Flags().Changed("kind") {
		f.Kind = string(multiparty.Coefficients)
	}
	if f.Proofs && !inSecret {
		return cli.Refuse("site vote", "prove-ranges", "may be given with --secure-sum only", true)
	}
	if inSecret != (len(f.Helpers) > 0) {
		return cli.Refuse("site vote", "helpers", "must be given with --sites and --secure-sum, and only there", nil)
	}
	if err := combine.CheckHelpers("site vote", f.Helpers); err != nil {
		return commands.AsUsageError(err)
	}
	switch kind := multiparty.Kind(f.Kind); {
	case kind != multiparty.Labels && kind != multiparty.Probabilities && kind != multiparty.Coefficients:
		return cli.Refuse("site vote", "kind", "must be labels, probabilities or coefficients", f.Kind)
	case (kind == multiparty.Coefficients) != (method == multiparty.Average):
		return cli.Refuse("site vote", "kind", "must be coefficients with --method average, and only there", f.Kind)
	case f.Wait < time.Second || f.Wait > 30*24*time.Hour:
		return cli.Refuse("site vote", "wait", "must be 1s to 720h", f.Wait)
	}
	return nil
}
