// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/keyfile"
	"github.com/discreet-dp/discreet/internal/service/site"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func (a *app) newSiteKitCommand() *cobra.Command {
	d := newDraft()
	var key, certs, out string
	c := &cobra.Command{
		Use:   "kit",
		Short: "write and sign what all sites of a federation need to begin",
		Long: `Kit puts the file of sites, the schema, the certificate of the authority and a
draft of each site's policy into one signed file. It holds no private key. Each
site opens it with site open.`,
		Example: `  discreet-net site kit --sites sites.txt --schema clinics.yaml --certs certs --coordinator uni --honest 2 --epsilon 1 \
    --delta 1e-6 --lifetime-epsilon 3 --lifetime-delta 3e-6 --until 2027-12-31 --key uni.pem --out clinics.kit`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			peers, err := d.complete("site kit")
			if err != nil {
				return err
			}
			signer, err := keyfile.Read("site kit", key)
			if err != nil {
				return err
			}
			k := &site.Kit{Policies: map[string]string{}}
			for path, to := range map[string]*string{d.list: &k.Sites, d.schema: &k.Schema,
				filepath.Join(certs, "authority.crt"): &k.Authority} {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				*to = string(text)
			}
			for _, peer := range peers {
				d.Site = peer.Name
				if err := d.check("site kit"); err != nil {
					return err
				}
				k.Policies[peer.Name] = d.Draft()
			}
			return a.WritePublicFile(out, func(w io.Writer) error { return site.WriteKit(k, signer, w) })
		},
	}
	d.addFlags(c)
	c.Flags().StringVar(&certs, "certs", "", "the `directory` with the certificate of the authority")
	c.Flags().StringVar(&key, "key", "", "the key `file` to sign with, as party key makes it")
	c.Flags().StringVar(&out, "out", "", "the kit `file`")
	cli.Reads(c, "certs", "key")
	cli.Writes(c, "out")
	cli.Require(c, "certs", "key", "out")
	return c
}

// kitFiles are what site open writes.
var kitFiles = []string{"sites.txt", "schema.yaml", "policy.yaml", "authority.crt"}

func (a *app) newSiteOpenCommand() *cobra.Command {
	var kit, from, name, dir string
	c := &cobra.Command{
		Use:   "open",
		Short: "check a kit and write a site's part of it",
		Long: `Open checks that --from has signed the kit, writes sites.txt, schema.yaml, the
draft policy.yaml and authority.crt into a folder, and prints in words what the
draft allows. Compare each key of sites.txt with the site that has it. Then let
the officer sign the policy.`,
		Example: `  discreet-net site open --kit clinics.kit --from uni.key --site north --dir north`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signer, err := readOfficer(from)
			if err != nil {
				return err
			}
			k, draft, err := site.ReadKit(kit, signer, name)
			if err != nil {
				return err
			}
			s, err := schema.Parse([]byte(k.Schema))
			if err != nil {
				return err
			}
			lines, err := draft.Words(s)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			for i, text := range []string{k.Sites, k.Schema, k.Policies[name], k.Authority} {
				if err := a.WritePublicFile(filepath.Join(dir, kitFiles[i]), func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				}); err != nil {
					return err
				}
			}
			for _, line := range lines {
				if _, err := fmt.Fprintln(a.Stdout, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&kit, "kit", "", "the kit `file`")
	f.StringVar(&from, "from", "", "the `file` of the public key that signed it, as party key prints it")
	f.StringVar(&name, "site", "", "the `name` of this site")
	f.StringVar(&dir, "dir", "", "the `folder` to write to")
	cli.Reads(c, "kit", "from")
	cli.WritesInto(c, "dir", kitFiles...)
	cli.Require(c, "kit", "from", "site", "dir")
	return c
}
