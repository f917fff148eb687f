// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

const (
	listName = "crl.pem"
	listType = "X509 CRL"
)

// list contains the certificates that one authority has revoked. If a list exists, it must be current,
// because an old one lacks later revocations.
type list struct {
	by           []*x509.Certificate // certificates of the authority that signed it: one or two
	revoked      map[string]bool     // serial numbers
	begins, ends time.Time
	unreadable   error // the authority's list has content that this program does not support
}

// checkRevoked refuses a revoked certificate of the list's authority. If the list is out of date or
// not understood, it refuses all of them.
func (l *list) checkRevoked(cert, issuer *x509.Certificate, at time.Time) error {
	switch {
	case !slices.ContainsFunc(l.by, issuer.Equal):
		return nil
	case l.revoked[cert.SerialNumber.String()]:
		return errors.New("it was revoked")
	case l.unreadable != nil:
		return fmt.Errorf("the authority's list of revoked certificates %w", l.unreadable)
	case at.After(l.ends):
		return fmt.Errorf("the authority's list of revoked certificates ended at %s", stamp(l.ends))
	}
	return nil
}

// ofSame reports whether two lists are from the same authority.
func (l *list) ofSame(o *list) bool {
	return slices.ContainsFunc(l.by, func(a *x509.Certificate) bool { return slices.ContainsFunc(o.by, a.Equal) })
}

// addList adds a list to others, and joins all that are of the same authority, so that their order does
// not matter. A certificate stays revoked if any list of its authority contains it. Lists are valid until
// the last of them expires.
func addList(lists []list, l list) (all []list) {
	for _, o := range lists {
		if !o.ofSame(&l) {
			all = append(all, o)
			continue
		}
		joined := list{by: append(slices.Clone(o.by), l.by...), revoked: maps.Clone(o.revoked), begins: o.begins,
			ends: o.ends, unreadable: cmp.Or(o.unreadable, l.unreadable)}
		maps.Copy(joined.revoked, l.revoked)
		if l.ends.After(o.ends) {
			joined.begins, joined.ends = l.begins, l.ends
		}
		l = joined
	}
	return append(all, l)
}

// loadLists reads the revocation lists of a directory; none if the file does not exist. Each must be
// signed by one of the authorities, understood and current; fault describes those that are not. The
// result contains the valid lists. It also contains lists of trusted authorities that are out of date
// or not understood, so that no certificate of these authorities is accepted.
func loadLists(dir string, authorities []*x509.Certificate, now time.Time) (lists []list, fault error) {
	path := filepath.Join(dir, listName)
	text, err := openfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	wrong := func(err error) { fault = errors.Join(fault, fmt.Errorf("identity: %s: %w", path, err)) }
	blocks := bytes.Count(text, []byte("-----BEGIN "))
	for len(text) > 0 {
		b, rest := pem.Decode(text)
		if b == nil {
			break
		}
		text = rest
		if blocks--; b.Type != listType {
			wrong(fmt.Errorf("want PEM blocks %q and nothing else", listType))
			continue
		}
		l, err := readList(b.Bytes, authorities)
		if err == nil {
			err = l.unreadable
		}
		if err == nil && now.After(l.ends) {
			err = fmt.Errorf("must be in force, and ended at %s: the authority signs it again", stamp(l.ends))
		}
		if err != nil {
			wrong(err)
		}
		if len(l.by) > 0 {
			lists = addList(lists, l)
		}
	}
	if blocks != 0 || len(bytes.TrimSpace(text)) > 0 || len(lists) == 0 && fault == nil {
		wrong(fmt.Errorf("want PEM blocks %q, at least one, and nothing else", listType))
	}
	return lists, fault
}

// readList reads one list. It refuses a list of an unknown authority. A list that is not understood is
// marked as such.
func readList(der []byte, authorities []*x509.Certificate) (list, error) {
	crl, err := x509.ParseRevocationList(der)
	if err != nil {
		return list{}, err
	}
	l := list{revoked: map[string]bool{}, begins: crl.ThisUpdate, ends: crl.NextUpdate}
	for _, a := range authorities {
		if crl.CheckSignatureFrom(a) == nil {
			l.by = append(l.by, a)
		}
	}
	critical := func(e pkix.Extension) bool { return e.Critical }
	switch {
	case len(l.by) == 0:
		return list{}, errors.New("must be signed by an authority that is trusted here")
	case l.ends.IsZero():
		l.unreadable = errors.New("must say when the next list comes")
	case slices.ContainsFunc(crl.Extensions, critical):
		l.unreadable = errors.New("must be a plain list: it has critical extensions")
	}
	for _, e := range crl.RevokedCertificateEntries {
		if slices.ContainsFunc(e.Extensions, critical) {
			l.unreadable = errors.New("must be a plain list: an entry has critical extensions")
		}
		l.revoked[e.SerialNumber.String()] = true
	}
	return l, nil
}
