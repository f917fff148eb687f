// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
)

// Kit is a proposal to the sites of a new federation, in one signed file.
type Kit struct {
	Sites     string            `json:"sites"`     // the file that lists the sites
	Schema    string            `json:"schema"`    // the schema file
	Authority string            `json:"authority"` // the certificate of the authority, as PEM
	Policies  map[string]string `json:"policies"`  // drafts, by site, for each officer to read, change and sign
}

const maxKit = 8 << 20

// WriteKit writes a kit with the proposer's signature as its last line.
func WriteKit(k *Kit, key ed25519.PrivateKey, to io.Writer) error {
	body, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	return siteKit.Sign(body, key, to)
}

// ReadKit reads a kit that a key has signed, and the draft of a site's policy.
func ReadKit(path string, from ed25519.PublicKey, site string) (k *Kit, draft *Policy, err error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKit))
	if err != nil {
		return nil, nil, err
	}
	body, ok := siteKit.Open(text, from)
	if !ok {
		return nil, nil, fmt.Errorf("site: %s must be a kit that is signed by the key, and unchanged since", path)
	}
	k = new(Kit)
	if err := sites.Decode(bytes.TrimSpace(body), k); err != nil {
		return nil, nil, fmt.Errorf("site: %s must be a kit, with its keys and no others", path)
	}
	if k.Policies[site] == "" {
		return nil, nil, fmt.Errorf("site: %s must have a policy for site %s", path, site)
	}
	if draft, err = parsePolicy([]byte(k.Policies[site])); err != nil {
		return nil, nil, fmt.Errorf("site: %s: the policy: %w", path, err)
	}
	return k, draft, nil
}
