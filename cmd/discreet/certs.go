// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/service/identity"
)

func (a *app) certs() *cobra.Command {
	c := &cobra.Command{
		Use:   "certs",
		Short: "make a trial's authority and its certificates",
		Long: `Certs makes what every connection of a federation needs: an authority, and for
each process a certificate that says its role and its name. Whoever holds
authority.key can become anybody: it stays on the machine that made it.

This authority is for trials. An organisation's own may sign the same
certificates; what we read from one is its name discreet://ROLE/NAME.`,
		Example: `  discreet certs init --dir certs
  discreet certs issue --dir certs --role aggregator --name main --host agg.example.org
  discreet certs issue --dir certs --role owner --name clinic-7`,
	}
	return cli.Group(c, a.certsInit(), a.certsIssue())
}

// certsFlags are what both commands need.
type certsFlags struct {
	*app
	dir  string
	days int
}

func (f *certsFlags) add(c *cobra.Command, days int) {
	c.Args = cobra.NoArgs
	c.Flags().StringVar(&f.dir, "dir", "", "the `directory` of the certificates")
	c.Flags().IntVar(&f.days, "days", days, "how long it is valid, in days")
	cli.Require(c, "dir")
}

func (f *certsFlags) life() time.Duration { return time.Duration(f.days) * 24 * time.Hour }

func (a *app) certsInit() *cobra.Command {
	f := &certsFlags{app: a}
	var trial bool
	c := &cobra.Command{
		Use:   "init",
		Short: "make the authority",
		Long: `Init makes the authority of a trial: authority.crt, which every process needs,
and authority.key, which none but certs issue needs. It replaces nothing.

With --trial it also issues what a trial on one machine needs: aggregator/main,
helper/one, helper/two, helper/three, operator/me, owner/me and reader/me.`,
		Example: `  discreet certs init --dir certs
  discreet certs init --dir certs --trial`,
		RunE: func(*cobra.Command, []string) error {
			authority, err := identity.NewAuthority(time.Now(), f.life())
			if err != nil {
				return refused(err)
			}
			if err := authority.Save(f.dir); err != nil {
				return err
			}
			if _, err = fmt.Fprintf(a.Stdout, "made an authority in %s\n", f.dir); err != nil || !trial {
				return err
			}
			now := time.Now()
			for _, who := range trialists {
				id, err := authority.Issue(who, here, now, f.life()-time.Hour)
				if err == nil {
					err = id.Save(f.dir)
				}
				if err != nil {
					return refused(err)
				}
			}
			return nil
		},
	}
	f.add(c, 90)
	c.Flags().BoolVar(&trial, "trial", false, "also issue the certificates of a trial on this machine")
	return c
}

// trialists are who takes part in a trial.
var trialists = []identity.Caller{
	{Role: identity.Aggregator, Name: "main"}, {Role: identity.Helper, Name: "one"}, {Role: identity.Helper, Name: "two"}, {Role: identity.Helper, Name: "three"},
	{Role: identity.Operator, Name: "me"}, {Role: identity.Owner, Name: "me"}, {Role: identity.Reader, Name: "me"},
}

func (a *app) certsIssue() *cobra.Command {
	f := &certsFlags{app: a}
	var role, name string
	var hosts []string
	c := &cobra.Command{
		Use:   "issue",
		Short: "make the certificate of one process",
		Long: `Issue makes ROLE-NAME.crt and ROLE-NAME.key. An aggregator, a helper and a party
serve, and need the names at which others reach them. It replaces nothing.`,
		Example: `  discreet certs issue --dir certs --role helper --name two --host 10.0.0.2
  discreet certs issue --dir certs --role operator --name anna`,
		RunE: func(*cobra.Command, []string) error {
			authority, err := identity.LoadAuthority(f.dir)
			if err != nil {
				return err
			}
			id, err := authority.Issue(identity.Caller{Role: identity.Role(role), Name: name}, hosts, time.Now(), f.life())
			if err != nil {
				return refused(err)
			}
			if err := id.Save(f.dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "made the certificate of %s in %s\n", id.Caller, f.dir)
			return err
		},
	}
	f.add(c, 30)
	c.Flags().StringVar(&role, "role", "", "the `role`: "+roleNames())
	c.Flags().StringVar(&name, "name", "", "the `name` of the process among those of its role")
	c.Flags().StringSliceVar(&hosts, "host", here, "`names` and addresses at which a server is reached")
	cli.Require(c, "role", "name")
	return c
}

// here is how a process on the same machine reaches one.
var here = []string{"localhost", "127.0.0.1"}

func roleNames() string {
	var s []string
	for _, r := range identity.Roles() {
		s = append(s, string(r))
	}
	return strings.Join(s, ", ")
}
