// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
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
		Short: "create, sign, renew, revoke and check certificates",
		Long: `Certs creates the certificates for the connections of a federation: an
authority, and for each process a certificate with its role and name. Anyone who
has authority.key can create a certificate for any role and name. Keep it on the
machine that made it.

Every process reads its files again when they change. A renewed certificate, a
second authority in authority.crt and a list of revoked certificates in crl.pem
take effect from the next connection, call and signature.

This authority is for trials. Your organisation's own authority may sign the
same certificates and lists. Discreet reads only the name discreet://ROLE/NAME
from a certificate.`,
		Example: `  discreet-net certs init --dir certs
  discreet-net certs issue --dir certs --role aggregator --name main --host agg.example.org
  discreet-net certs issue --dir certs --role owner --name clinic-7
  discreet-net certs renew --dir certs --role owner --name clinic-7
  discreet-net certs revoke --dir certs --role owner --name clinic-7`,
	}
	return cli.Group(c, a.newCertsInitCommand(), a.newCertsIssueCommand(), a.newCertsRequestCommand(), a.newCertsSignCommand(),
		a.newCertsRenewCommand(), a.newCertsRevokeCommand(), a.newCertsCheckCommand())
}

// certsFlags holds the flags that both commands have.
type certsFlags struct {
	*app
	dir  string
	days int
}

func (f *certsFlags) addFlags(c *cobra.Command, days int) {
	c.Args = cobra.NoArgs
	c.Flags().StringVar(&f.dir, "dir", "", "the `directory` of the certificates")
	c.Flags().IntVar(&f.days, "days", days, "how long it is valid, in days")
	cli.KeepsFolder(c, "dir", identity.FolderNames)
	cli.Require(c, "dir")
}

func (f *certsFlags) validFor() time.Duration { return time.Duration(f.days) * 24 * time.Hour }

// runWith returns the work of a command: do uses the authority, and returns what to print.
func (f *certsFlags) runWith(do func(c *cobra.Command, by *identity.Authority) (string, error)) func(*cobra.Command,
	[]string) error {
	return func(c *cobra.Command, _ []string) error {
		authority, err := identity.LoadAuthority(f.dir)
		if err != nil {
			return err
		}
		says, err := do(c, authority)
		if err != nil {
			return commands.AsRefusal(err)
		}
		_, err = plaintext.Fprintf(f.Stdout, "%s\n", says)
		return err
	}
}

func (a *app) newCertsInitCommand() *cobra.Command {
	f := &certsFlags{app: a}
	var trial bool
	c := &cobra.Command{
		Use:   "init",
		Short: "create the authority",
		Long: `Init creates the authority of a trial: authority.crt, which every process needs,
and authority.key, which only certs issue needs. It replaces no file.

With --trial it also issues the certificates of a trial on one machine:
aggregator/main, helper/one, helper/two, helper/three, operator/me, owner/me and
reader/me.`,
		Example: `  discreet-net certs init --dir certs
  discreet-net certs init --dir certs --trial`,
		RunE: func(*cobra.Command, []string) error {
			authority, err := identity.NewAuthority(time.Now(), f.validFor())
			if err != nil {
				return commands.AsRefusal(err)
			}
			if err := authority.Save(f.dir); err != nil {
				return err
			}
			if _, err = plaintext.Fprintf(a.Stdout, "made an authority in %s\n", f.dir); err != nil || !trial {
				return err
			}
			return commands.AsRefusal(authority.IssueTrial(f.dir, here, time.Now(), f.validFor()-time.Hour))
		},
	}
	f.addFlags(c, 90)
	c.Flags().BoolVar(&trial, "trial", false, "also issue the certificates of a trial on this machine")
	return c
}

func (a *app) newCertsIssueCommand() *cobra.Command {
	f := &certsFlags{app: a}
	var who identity.Caller
	var hosts []string
	c := &cobra.Command{
		Use:   "issue",
		Short: "create the certificate of one process",
		Long: `Issue creates ROLE-NAME.crt and ROLE-NAME.key. An aggregator, a helper and a
party are servers, so their certificates need the host names at which others
reach them. It replaces no file. The key is made on this machine. If it must
never leave the process's own, use certs request there and certs sign here.`,
		Example: `  discreet-net certs issue --dir certs --role helper --name two --host 10.0.0.2
  discreet-net certs issue --dir certs --role operator --name anna`,
		RunE: f.runWith(func(_ *cobra.Command, by *identity.Authority) (string, error) {
			id, err := by.Issue(who, hosts, time.Now(), f.validFor())
			if err == nil {
				err = id.Save(f.dir)
			}
			return fmt.Sprintf("made the certificate of %s in %s", who, f.dir), err
		}),
	}
	f.addFlags(c, 30)
	addCaller(c, &who)
	c.Flags().StringSliceVar(&hosts, "host", here, "`names` and addresses at which a server is reached")
	cli.Require(c, "role", "name")
	return c
}

func (a *app) newCertsRequestCommand() *cobra.Command {
	var dir string
	var who identity.Caller
	var hosts []string
	c := &cobra.Command{
		Use:   "request",
		Short: "create a key here and ask for its certificate",
		Long: `Request creates ROLE-NAME.key, which stays on this machine, and ROLE-NAME.csr for
the authority, and prints the digest of the public key. It replaces no file.
Read the digest to who signs. Put the answer, ROLE-NAME.crt, and the authority's
authority.crt into the same directory.`,
		Example: `  discreet-net certs request --dir certs --role party --name north --host north.example.org`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			digest, err := identity.Request(dir, who, hosts)
			if err != nil {
				return commands.AsRefusal(err)
			}
			_, err = plaintext.Fprintf(a.Stdout, "made the key of %s in %s, with the digest %s\n", who, dir, digest)
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the `directory` of the certificates")
	addCaller(c, &who)
	c.Flags().StringSliceVar(&hosts, "host", here, "`names` and addresses at which a server is reached")
	cli.KeepsFolder(c, "dir", identity.FolderNames)
	cli.Require(c, "dir", "role", "name")
	return c
}

func (a *app) newCertsSignCommand() *cobra.Command {
	f := &certsFlags{app: a}
	var who identity.Caller
	var request string
	c := &cobra.Command{
		Use:   "sign",
		Short: "sign the certificate that a process asked for",
		Long: `Sign answers a request with ROLE-NAME.crt, for the key and the hosts that it
names, and prints them. It replaces no file. Compare the digest with who sent
the request: anyone can make one for any name.`,
		Example: `  discreet-net certs sign --dir certs --request party-north.csr --role party --name north`,
		RunE: f.runWith(func(_ *cobra.Command, by *identity.Authority) (string, error) {
			s, err := by.Sign(f.dir, request, who, time.Now(), f.validFor())
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("signed the certificate of %s in %s until %s, for %s and the key with the digest %s", who, f.dir,
				s.Ends.UTC().Format(time.RFC3339), strings.Join(s.Hosts, ", "), s.Digest), nil
		}),
	}
	f.addFlags(c, 30)
	addCaller(c, &who)
	c.Flags().StringVar(&request, "request", "", "the `file` that certs request made")
	cli.Reads(c, "request")
	cli.Require(c, "request", "role", "name")
	return c
}

func (a *app) newCertsRenewCommand() *cobra.Command {
	f := &certsFlags{app: a}
	var who identity.Caller
	c := &cobra.Command{
		Use:   "renew",
		Short: "sign a certificate again before it expires",
		Long: `Renew signs ROLE-NAME.crt again, for the same key and the same hosts, and
replaces the file at once. The key need not be on this machine. Send the new
file to the process that has the key; it reads the file while it runs. If others
may know the key, revoke the certificate and issue a new one.`,
		Example: `  discreet-net certs renew --dir certs --role aggregator --name main --days 30`,
		RunE: f.runWith(func(_ *cobra.Command, by *identity.Authority) (string, error) {
			ends, err := by.Renew(f.dir, who, time.Now(), f.validFor())
			return fmt.Sprintf("renewed the certificate of %s in %s until %s", who, f.dir, ends.UTC().Format(time.RFC3339)), err
		}),
	}
	f.addFlags(c, 30)
	addCaller(c, &who)
	cli.Require(c, "role", "name")
	return c
}

func (a *app) newCertsRevokeCommand() *cobra.Command {
	f := &certsFlags{app: a}
	var who identity.Caller
	c := &cobra.Command{
		Use:   "revoke",
		Short: "revoke the certificates of a process",
		Long: `Revoke adds every certificate of a process, including renewed ones, to the
authority's list crl.pem. Copy the list to all other processes, next to their
authority.crt. From then on they refuse the certificates, on open connections at
the next call, and everything signed with them. If an operator is revoked, its
tasks end.

A list is valid for --days. Sign it again before it expires, with revoke without
--role and --name. If a list has expired, processes that have it refuse every
certificate of its authority. Processes without a list know of no revocation.`,
		Example: `  discreet-net certs revoke --dir certs --role owner --name clinic-7
  discreet-net certs revoke --dir certs --days 60`,
		RunE: f.runWith(func(c *cobra.Command, by *identity.Authority) (string, error) {
			var callers []identity.Caller
			if c.Flags().Changed("role") {
				callers = append(callers, who)
			}
			n, err := by.Revoke(f.dir, callers, time.Now(), f.validFor())
			return fmt.Sprintf("signed the list of revoked certificates in %s: %d on it, in force for %d days", f.dir, n, f.days),
				err
		}),
	}
	f.addFlags(c, 30)
	addCaller(c, &who)
	c.MarkFlagsRequiredTogether("role", "name")
	return c
}

func (a *app) newCertsCheckCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "check that certificates are valid now and fit their keys",
		Long: `Check prints one line for each certificate in the directory, ok or FAIL, with the
end of its validity. A certificate whose key is there must also fit it, and must
not be on the list of revoked ones. It exits with 1 if a check fails.`,
		Example: `  discreet-net certs check --dir certs`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			lives, err := identity.Lives(dir, time.Now())
			if err != nil {
				return err
			}
			var found commands.Findings
			for _, l := range lives {
				found.Note("certificate", l.Name+": "+l.Words, l.Err)
			}
			return found.Write(a.Stdout, "certs check", asJSON)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the `directory` of the certificates")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cli.Reads(c, "dir")
	cli.Require(c, "dir")
	return c
}

// addCaller adds the flags that name a process.
func addCaller(c *cobra.Command, who *identity.Caller) {
	c.Flags().StringVar((*string)(&who.Role), "role", "", "the `role`: "+roleNames())
	c.Flags().StringVar(&who.Name, "name", "", "the `name` of the process among those of its role")
}

// here are the host names by which a process on the same machine is reached.
var here = []string{"localhost", "127.0.0.1"}

func roleNames() string { return strings.Join(cli.Words(identity.Roles()), ", ") }
