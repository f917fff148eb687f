// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// reachTime bounds how long doctor waits for another process.
const reachTime = 10 * time.Second

// doctor holds the flags of the command, and what it finds.
type doctor struct {
	*app
	certs, caller, sites string
	reach                []string
	json                 bool

	commands.Findings
}

func (a *app) newDoctorCommand() *cobra.Command {
	d := &doctor{app: a}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check certificates, and whether other processes answer",
		Long: `Doctor prints one line for each check, ok or FAIL, and exits with 1 if a check
fails. It checks that each certificate in a directory is valid now, fits its key
if that is there, and is not revoked. With --reach it connects to other processes
as the one that --as names. With --gateway it looks for a certificate for each
site whose calls a Flower or NVFlare network carries.`,
		Example: `  discreet-net doctor --certs certs --as combiner/uni --reach https://localhost:8461
  discreet-net doctor --certs uni --gateway sites.txt --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return d.examine(c) },
	}
	c.Flags().StringVar(&d.certs, "certs", "", "the `directory` of certificates, as certs makes it")
	c.Flags().StringVar(&d.caller, "as", "", "with --reach, the certificate's role and name, `ROLE/NAME`, e.g. combiner/uni")
	c.Flags().StringArrayVar(&d.reach, "reach", nil, "the `address` of another process, https://host:port; may be repeated")
	c.Flags().StringVar(&d.sites, "gateway", "", "a `file` of sites, as site train reads it")
	c.Flags().BoolVar(&d.json, "json", false, "print one JSON object")
	cli.Reads(c, "certs", "gateway")
	cli.Require(c, "certs")
	c.MarkFlagsRequiredTogether("as", "reach")
	return c
}

func (d *doctor) examine(c *cobra.Command) error {
	for _, address := range d.reach {
		if !combine.IsAddress(address) {
			return cli.Refuse("doctor", "reach", "must be an address like https://host:port", address)
		}
	}
	lives, err := identity.Lives(d.certs, time.Now())
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for _, l := range lives {
		d.Note("certificate", l.Name+": "+l.Words, l.Err)
		held[l.Name] = true
	}
	if d.sites != "" {
		peers, err := readSites("doctor", d.sites)
		if err != nil {
			return err
		}
		for _, p := range peers {
			who := identity.Caller{Role: identity.Party, Name: p.Name}.String()
			var err error
			if !held[who] {
				err = fmt.Errorf("the directory must have a certificate for %s, which the gateway shows for this site", who)
			}
			d.Note("gateway", who+" has a certificate", err)
		}
	}
	if len(d.reach) > 0 {
		self, err := (&as{d.certs, d.caller}).loadIdentity()
		if err != nil {
			return err
		}
		for _, address := range d.reach {
			d.Note("reach", address+": answers", reachProcess(c.Context(), self, address))
		}
	}
	return d.Write(d.Stdout, c, d.json)
}

// reachProcess calls a path that no service has: whatever it answers, both certificates were accepted.
func reachProcess(ctx context.Context, self *identity.Identity, address string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := self.HTTPClient(identity.Party)
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<10))
	answer.Body.Close()
	return err
}
