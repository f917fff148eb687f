// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/discreet-dp/discreet/internal/ground/keyfile"
)

const (
	// PayloadType is the type of the envelope's payload.
	PayloadType = "application/vnd.in-toto+json"
	// PredicateType is the type of the Statement's predicate.
	PredicateType = "https://github.com/discreet-dp/discreet/release/v1"
)

// statement is an in-toto Statement in the single form that releases use.
type statement struct {
	Type          string          `json:"_type"`
	Subject       []subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

type subject struct {
	Name   string `json:"name"`
	Digest digest `json:"digest"`
}

type digest struct {
	SHA256 string `json:"sha256"`
}

// key implements the signer and the verifier of package dsse.
type key struct {
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

var errSignature = errors.New("the signature is not by this key")

func (k key) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.private, data), nil
}

func (k key) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(k.public, data, sig) {
		return errSignature
	}
	return nil
}

func (k key) KeyID() (string, error)   { return keyfile.ID(k.public), nil }
func (k key) Public() crypto.PublicKey { return k.public }

// attest signs predicate, JSON about the files, together with their digests.
func attest(files []File, predicate []byte, private ed25519.PrivateKey) ([]byte, error) {
	s := statement{Type: intoto.StatementTypeUri, PredicateType: PredicateType, Predicate: predicate}
	for _, f := range files {
		s.Subject = append(s.Subject, subject{f.Name, digest{sumOf(f.Data)}})
	}
	payload, err := encode(s)
	if err != nil {
		return nil, err
	}
	if _, err := readStatement(payload); err != nil { // what is signed can be read back
		return nil, err
	}
	signer, err := dsse.NewEnvelopeSigner(key{private.Public().(ed25519.PublicKey), private})
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	envelope, err := signer.SignPayload(context.Background(), PayloadType, payload)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	return encode(envelope)
}

// readEnvelope reads an envelope that attest wrote, in its only valid spelling.
func readEnvelope(text []byte) (e *dsse.Envelope, payload []byte, err error) {
	e = new(dsse.Envelope)
	if err := decode(text, e); err != nil {
		return nil, nil, fmt.Errorf("release: the attestation must be a DSSE envelope as discreet release writes it")
	}
	switch {
	case e.PayloadType != PayloadType:
		return nil, nil, fmt.Errorf("release: the attestation's payload must have the type %s", PayloadType)
	case len(e.Signatures) == 0:
		return nil, nil, fmt.Errorf("release: the attestation must have a signature")
	case len(e.Signatures) > 1:
		return nil, nil, fmt.Errorf("release: the attestation must have one signature (got %d)", len(e.Signatures))
	}
	payload, err = strict(e.Payload)
	if err != nil {
		return nil, nil, fmt.Errorf("release: the attestation's payload must be in base64")
	}
	if sig, err := strict(e.Signatures[0].Sig); err != nil || len(sig) != ed25519.SignatureSize {
		return nil, nil, fmt.Errorf("release: the signature must be %d bytes in base64", ed25519.SignatureSize)
	}
	return e, payload, nil
}

// strict decodes base64 in its only valid spelling.
func strict(text string) ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && base64.StdEncoding.EncodeToString(b) != text {
		err = errors.New("line breaks")
	}
	return b, err
}

// checkSignature returns the trusted key that made the signature.
func checkSignature(e *dsse.Envelope, trusted []ed25519.PublicKey) (ed25519.PublicKey, error) {
	var verifiers []dsse.Verifier
	known := false
	for _, k := range trusted {
		verifiers = append(verifiers, key{public: k})
		known = known || keyfile.ID(k) == e.Signatures[0].KeyID
	}
	if !known {
		return nil, fmt.Errorf("release: the signature must be by one of the %d trusted keys: it names another", len(trusted))
	}
	v, err := dsse.NewEnvelopeVerifier(verifiers...)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	accepted, err := v.Verify(context.Background(), e)
	if err != nil || len(accepted) != 1 {
		return nil, fmt.Errorf("release: the signature must be that of the key that it names: what was signed was changed, or " +
			"the signature was")
	}
	return accepted[0].Public.(ed25519.PublicKey), nil
}

// readStatement reads a statement in its only valid spelling.
func readStatement(payload []byte) (*statement, error) {
	var known intoto.Statement
	s := new(statement)
	if err := protojson.Unmarshal(payload, &known); err != nil || known.Validate() != nil || decode(payload, s) != nil {
		return nil, fmt.Errorf("release: the attestation must hold a Statement of in-toto as discreet release writes it")
	}
	if s.Type != intoto.StatementTypeUri || s.PredicateType != PredicateType {
		return nil, fmt.Errorf("release: the attestation must be about a release: its predicate must have the type %s",
			PredicateType)
	}
	return s, nil
}

// checkDigests refuses files that differ from the list in the statement.
func (s *statement) checkDigests(files []File) error {
	listed := map[string]string{}
	for _, one := range s.Subject {
		switch {
		case !slices.Contains(names, one.Name):
			return fmt.Errorf("release: the attestation must list files that a release may hold and no other")
		case listed[one.Name] != "":
			return fmt.Errorf("release: the attestation must list each file once, and lists %q twice", one.Name)
		}
		listed[one.Name] = one.Digest.SHA256
	}
	for _, f := range files {
		switch sum, ok := listed[f.Name]; {
		case !ok:
			return fmt.Errorf("release: file %q must be one that the attestation lists", f.Name)
		case sum != sumOf(f.Data):
			return fmt.Errorf("release: file %q must be the one that was attested: its SHA-256 is another", f.Name)
		}
		delete(listed, f.Name)
	}
	for name := range listed {
		return fmt.Errorf("release: file %q must be in the archive: the attestation lists it", name)
	}
	return nil
}

// encode writes JSON in the single form that releases use: on one line, with no unnecessary escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	return b.Bytes(), nil
}

// decode reads JSON that encode wrote, and refuses every other spelling.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	again, err := encode(v)
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("another spelling")
	}
	return err
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
