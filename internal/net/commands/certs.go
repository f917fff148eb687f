// SPDX-License-Identifier: Apache-2.0

package network

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

func (a *app) newCertsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "certs",
		Short: "make certificates for a trial, or ask for one",
		Long: `Certs makes the certificates of a trial on one machine, or a key and a request
that your organisation's authority answers. The operators' guide shows an
authority with OpenSSL, which also renews and revokes certificates. Discreet
reads only the name discreet://ROLE/NAME from a certificate.

A renewed certificate, a second authority in authority.crt and a list of revoked
certificates in crl.pem take effect from the next connection.`,
		Example: `  discreet-net certs trial --dir certs
  discreet-net certs request party/north --dir certs --host north.example.org`,
	}
	return cli.Group(c, a.newCertsTrialCommand(), a.newCertsRequestCommand())
}

func (a *app) newCertsTrialCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "trial [ROLE/NAME ...]",
		Short: "make an authority and the certificates of a trial on one machine",
		Long: `Trial makes certificates with their keys for processes that are reached at
localhost, and the authority that signs them, unless the directory has one. All
end after 90 days. Without names it makes those of aggregator/main, helper/one,
helper/two, helper/three, operator/me, owner/me and reader/me. It replaces no
file.

Roles are ` + roleNames() + `.`,
		Example: `  discreet-net certs trial --dir certs
  discreet-net certs trial --dir certs combiner/uni party/north party/south`,
		RunE: func(_ *cobra.Command, args []string) error {
			callers := identity.Trial()
			if len(args) > 0 {
				callers = nil
			}
			for _, text := range args {
				who, err := parseCaller(text)
				if err != nil {
					return err
				}
				callers = append(callers, who)
			}
			return commands.AsRefusal(identity.SaveTrial(dir, callers, here, time.Now()))
		},
	}
	addFolder(c, &dir)
	return c
}

func (a *app) newCertsRequestCommand() *cobra.Command {
	var dir string
	var hosts []string
	c := &cobra.Command{
		Use:   "request ROLE/NAME",
		Short: "create a key here and ask for its certificate",
		Long: `Request creates ROLE-NAME.key, which stays on this machine, and ROLE-NAME.csr for
the authority, and prints the digest of the public key. It replaces no file.
Read the digest to who signs. Put the answer, ROLE-NAME.crt, and the authority's
authority.crt into the same directory.`,
		Example: `  discreet-net certs request party/north --dir certs --host north.example.org`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			who, err := parseCaller(args[0])
			if err != nil {
				return err
			}
			digest, err := identity.Request(dir, who, hosts)
			if err != nil {
				return commands.AsRefusal(err)
			}
			_, err = plaintext.Fprintf(a.Stdout, "made the key of %s in %s, with the digest %s\n", who, dir, digest)
			return err
		},
	}
	addFolder(c, &dir)
	c.Flags().StringSliceVar(&hosts, "host", here, "`names` and addresses at which a server is reached")
	return c
}

func addFolder(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "dir", "", "the `directory` of the certificates")
	cli.KeepsFolder(c, "dir", identity.FolderNames)
	cli.Require(c, "dir")
}

// parseCaller reads the name of a process.
func parseCaller(text string) (identity.Caller, error) {
	role, name, _ := strings.Cut(text, "/")
	who := identity.Caller{Role: identity.Role(role), Name: name}
	return who, commands.AsRefusal(who.Check())
}

// here are the host names by which a process on the same machine is reached.
var here = []string{"localhost", "127.0.0.1"}

func roleNames() string { return strings.Join(cli.Words(identity.Roles()), ", ") }
