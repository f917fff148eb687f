// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Role determines which calls a caller may make.
type Role string

// The roles of a federation.
const (
	Aggregator Role = "aggregator" // the data user's service
	Combiner   Role = "combiner"   // asks parties for votes
	Helper     Role = "helper"     // a member of a secret sum's committee
	Operator   Role = "operator"   // creates and closes tasks
	Owner      Role = "owner"      // uploads reports, its own or those of the owners it relays
	Party      Role = "party"      // votes with a model that it keeps private
	Reader     Role = "reader"     // reads progress and models
)

// Roles lists every role.
func Roles() []Role { return []Role{Aggregator, Combiner, Helper, Operator, Owner, Party, Reader} }

// Caller is one end of a connection.
type Caller struct {
	Role Role
	Name string // letters, digits, dots, dashes and underscores, at most 64
}

// String returns "role/name", as logs show it.
func (c Caller) String() string { return string(c.Role) + "/" + c.Name }

const scheme = "discreet"

var plainName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Check refuses a caller that no certificate can contain.
func (c Caller) Check() error {
	if !slices.Contains(Roles(), c.Role) {
		return dp.Refuse("identity", "role", "must be one of "+roleList(), string(c.Role))
	}
	if !plainName.MatchString(c.Name) {
		return dp.Refuse("identity", "name", "must be 1 to 64 letters, digits, dots, dashes and underscores",
			fmt.Sprintf("%q", c.Name))
	}
	return nil
}

func (c Caller) callerURI() *url.URL {
	return &url.URL{Scheme: scheme, Host: string(c.Role), Path: "/" + c.Name}
}

// callerOf requires exactly one of our names. If there were two, a check and a log could use different
// ones.
func callerOf(cert *x509.Certificate) (Caller, error) {
	var found []Caller
	for _, u := range cert.URIs {
		if u.Scheme != scheme {
			continue
		}
		c := Caller{Role: Role(u.Host), Name: strings.TrimPrefix(u.Path, "/")}
		if err := c.Check(); err != nil {
			return Caller{}, err
		}
		if u.String() != c.callerURI().String() {
			return Caller{}, errors.New("identity: the certificate's name has more than a role and a name")
		}
		found = append(found, c)
	}
	if len(found) != 1 {
		return Caller{}, fmt.Errorf("identity: the certificate must have exactly one name %s://ROLE/NAME, got %d", scheme,
			len(found))
	}
	return found[0], nil
}

// checkUse refuses a certificate that is not suitable for a caller. The key must be ECDSA on P-256 or
// P-384, which every TLS library supports and signatures use. The certificate must be for clients and,
// if the caller is a server, for servers.
func checkUse(cert *x509.Certificate, uses ...x509.ExtKeyUsage) error {
	key, ok := cert.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() && key.Curve != elliptic.P384() {
		return errors.New("identity: a certificate's key must be for ECDSA on P-256 or P-384")
	}
	for _, use := range uses {
		if !slices.Contains(cert.ExtKeyUsage, use) {
			return fmt.Errorf("identity: a certificate must name its use, %s, among its extended key usages",
				map[x509.ExtKeyUsage]string{x509.ExtKeyUsageClientAuth: "client authentication",
					x509.ExtKeyUsageServerAuth: "server authentication"}[use])
		}
	}
	return nil
}

func roleList() string {
	var s []string
	for _, r := range Roles() {
		s = append(s, string(r))
	}
	return strings.Join(s, ", ")
}
