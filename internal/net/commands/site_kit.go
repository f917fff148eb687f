// SPDX-License-Identifier: Apache-2.0

package network

import (
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/net/service/site"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func (a *app) newSiteKitCommand() *cobra.Command {
	var list, schemaFile, policy, certs, key, out string
	c := &cobra.Command{
		Use:   "kit",
		Short: "sign what sites need to begin",
		Long: `Kit puts the sites, the schema, the authority's certificate and a draft policy
for each site into one signed file. It holds no private key.`,
		Example: `  discreet-net site kit --sites sites.txt --schema clinics.yaml --policy north.yaml --certs certs --key uni.pem --out clinics.kit`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signer, err := keyfile.Read("site kit", key)
			if err != nil {
				return err
			}
			draft, err := site.ReadPolicy(policy, nil)
			if err != nil {
				return err
			}
			s, err := schema.Load(schemaFile)
			if err != nil {
				return err
			}
			if _, err := draft.Words(s); err != nil { // a policy of another schema
				return err
			}
			peers, err := readSites("site kit", list)
			if err != nil {
				return err
			}
			k := &site.Kit{Policies: map[string]string{}}
			for path, to := range map[string]*string{list: &k.Sites, schemaFile: &k.Schema,
				filepath.Join(certs, "authority.crt"): &k.Authority} {
				text, err := openfile.Read(path)
				if err != nil {
					return err
				}
				*to = string(text)
			}
			for _, peer := range peers {
				if draft.Sites[peer.Name] != hex.EncodeToString(peer.Key) {
					return cli.Refuse("site kit", "policy", "must have the key of each of --sites", peer.Name)
				}
				draft.Site = peer.Name
				k.Policies[peer.Name] = draft.Draft()
			}
			return a.WritePublicFile(out, func(w io.Writer) error { return site.WriteKit(k, signer, w) })
		},
	}
	f := c.Flags()
	f.StringVar(&list, "sites", "", "the `file` of sites: an address, a public key and a name on each line")
	f.StringVar(&schemaFile, "schema", "", "the schema `file` that all sites have")
	f.StringVar(&policy, "policy", "", "the policy `file` of any site; all sites have the same one")
	f.StringVar(&certs, "certs", "", "the `directory` of the authority")
	f.StringVar(&key, "key", "", "the key `file` to sign with")
	f.StringVar(&out, "out", "", "the kit `file`")
	cli.Reads(c, "sites", "schema", "policy", "certs", "key")
	cli.Writes(c, "out")
	cli.Require(c, "sites", "schema", "policy", "certs", "key", "out")
	return c
}

// kitFiles are the files that site open writes.
var kitFiles = []string{"sites.txt", "schema.yaml", "policy.yaml", "authority.crt"}

func (a *app) newSiteOpenCommand() *cobra.Command {
	var kit, from, name, dir string
	c := &cobra.Command{
		Use:   "open",
		Short: "check a kit and write its files",
		Long: `Open writes sites.txt, schema.yaml, policy.yaml and authority.crt, and prints
the policy in words. Compare each key with the site that has it.`,
		Example: `  discreet-net site open --kit clinics.kit --from uni.pub --site north --dir north`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signer, err := keyfile.ReadOne("site open", "from", from)
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
				if _, err := plaintext.Fprintf(a.Stdout, "%s\n", line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&kit, "kit", "", "the kit `file`")
	f.StringVar(&from, "from", "", "the public key `file` of who signed it")
	f.StringVar(&name, "site", "", "the `name` of this site")
	f.StringVar(&dir, "dir", "", "the `folder` to write to")
	cli.Reads(c, "kit", "from")
	cli.WritesInto(c, "dir", kitFiles...)
	cli.Require(c, "kit", "from", "site", "dir")
	return c
}
