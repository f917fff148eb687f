// SPDX-License-Identifier: Apache-2.0

package release

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/model"
)

// Release is an archive whose files have been checked against its attestation.
type Release struct {
	Files     []File // sorted by name, without the attestation
	Predicate []byte // the attestation's information about the files, JSON
	Signer    ed25519.PublicKey
}

// File returns the content of the named file, nil if there is none.
func (r *Release) File(name string) []byte {
	for _, f := range r.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// Write makes a signed archive of files and of predicate, which describes them. It refuses a name that
// no release may have.
func Write(files []File, predicate any, private ed25519.PrivateKey) ([]byte, error) {
	files = append([]File{}, files...)
	for _, f := range files {
		if !slices.Contains(names, f.Name) || f.Name == AttestationName {
			return nil, fmt.Errorf("release: %q must not be the name of a file", f.Name)
		}
	}
	sortFiles(files)
	text, err := encode(predicate)
	if err != nil {
		return nil, err
	}
	envelope, err := attest(files, text[:len(text)-1], private)
	if err != nil {
		return nil, err
	}
	files = append(files, File{AttestationName, envelope})
	sortFiles(files)
	archive, err := pack(files)
	if err != nil {
		return nil, err
	}
	_, err = Open(archive, []ed25519.PublicKey{private.Public().(ed25519.PublicKey)})
	return archive, err
}

// Open reads an archive. It checks its files against the attestation, and the attestation's signature
// against the trusted keys. If there are no trusted keys, the signature is not checked and Signer is
// nil.
func Open(archive []byte, trusted []ed25519.PublicKey) (*Release, error) {
	files, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	r := &Release{}
	var envelope []byte
	for _, f := range files {
		if f.Name == AttestationName {
			envelope = f.Data
			continue
		}
		r.Files = append(r.Files, f)
	}
	if envelope == nil {
		return nil, fmt.Errorf("release: the archive must have an %s", AttestationName)
	}
	e, payload, err := readEnvelope(envelope)
	if err != nil {
		return nil, err
	}
	if trusted != nil {
		if r.Signer, err = checkSignature(e, trusted); err != nil {
			return nil, err
		}
	}
	s, err := readStatement(payload)
	if err != nil {
		return nil, err
	}
	r.Predicate = s.Predicate
	return r, s.checkDigests(r.Files)
}

// DecodePredicate decodes the predicate, in its only valid spelling.
func (r *Release) DecodePredicate(v any) error {
	if err := decode(append(r.Predicate[:len(r.Predicate):len(r.Predicate)], '\n'), v); err != nil {
		return fmt.Errorf("release: the attestation must say of the files what discreet release writes")
	}
	return nil
}

// Trusted is a requirement on models: they must be releases signed by one of these keys. Nil requires
// nothing.
type Trusted []ed25519.PublicKey

// ReadTrusted reads a file of public keys; "" requires nothing. Errors begin with op.
func ReadTrusted(op, path string) (Trusted, error) {
	if path == "" {
		return nil, nil
	}
	return keyfile.ReadPublic(op, path)
}

// ModelIn returns the bytes of a model file, given a model file or a release that contains one.
func (t Trusted) ModelIn(file []byte) ([]byte, error) {
	if !IsArchive(file) {
		if t != nil {
			return nil, errors.New("release: the model must be a release that a trusted key signed; this is a model without a " +
				"signature")
		}
		return file, nil
	}
	r, err := Open(file, t)
	if err != nil {
		return nil, err
	}
	m := r.File(ModelName)
	if m == nil {
		return nil, fmt.Errorf("release: the archive must have a %s", ModelName)
	}
	return m, nil
}

// LoadModel reads a model file or a release.
func (t Trusted) LoadModel(path string) (*model.Model, error) {
	file, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	if file, err = t.ModelIn(file); err != nil {
		return nil, fmt.Errorf("%w (file %s)", err, path)
	}
	m, err := model.Unmarshal(file)
	if err != nil {
		return nil, fmt.Errorf("%w (file %s)", err, path)
	}
	return m, nil
}

// ReadFile reads a file that may be a release.
func ReadFile(path string) ([]byte, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, fmt.Errorf("model: load: %w", err)
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("model: load: %w", err)
	}
	return file, nil
}
