// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Signature authenticates a message to everyone who trusts the same authority.
type Signature struct {
	Certificate []byte // DER
	Value       []byte // ECDSA over SHA-256, ASN.1
}

// Sign signs a message. The purpose separates kinds of messages: a signature for one kind is invalid
// for another.
func (i *Identity) Sign(purpose string, message []byte) (Signature, error) {
	h := i.currentFiles()
	value, err := ecdsa.SignASN1(rand.Reader, h.key, digest(purpose, message))
	if err != nil {
		return Signature{}, fmt.Errorf("identity: sign: %w", err)
	}
	return Signature{h.cert.Raw, value}, nil
}

// Verify returns the signer of a message, if an authority of i vouches for the signer at the given
// time and has not revoked the certificate by now.
func (i *Identity) Verify(s Signature, purpose string, message []byte, at time.Time) (Caller, error) {
	cert, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		return Caller{}, fmt.Errorf("identity: %w", err)
	}
	h := i.currentFiles()
	chains, err := cert.Verify(x509.VerifyOptions{Roots: h.pool(), CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return Caller{}, fmt.Errorf("identity: %w", err)
	}
	if err := h.holds(chains, at); err != nil {
		return Caller{}, fmt.Errorf("identity: the signer's certificate does not hold: %w", err)
	}
	if err := checkUse(cert, x509.ExtKeyUsageClientAuth); err != nil {
		return Caller{}, err
	}
	key, ok := cert.PublicKey.(*ecdsa.PublicKey)
	if !ok || !ecdsa.VerifyASN1(key, digest(purpose, message), s.Value) {
		return Caller{}, errors.New("identity: the signature is not of this message by this certificate's key")
	}
	return callerOf(cert)
}

// Signer returns the name in the signature's certificate and the certificate's end. It does not verify
// either; Verify does.
func (s Signature) Signer() (who Caller, ends time.Time, err error) {
	cert, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		return Caller{}, time.Time{}, fmt.Errorf("identity: %w", err)
	}
	who, err = callerOf(cert)
	return who, cert.NotAfter, err
}

// digest hashes the purpose's length, the purpose and the message.
func digest(purpose string, message []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s:", len(purpose), purpose)
	h.Write(message)
	return h.Sum(nil)
}
