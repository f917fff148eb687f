// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

const (
	// Purpose separates signatures of sums from others.
	Purpose = "discreet sum 1"
	// shares separates signatures of shares from others.
	shares = "discreet share 3\x00"
)

// Signed is a sum's bytes under its collector's signature.
type Signed struct {
	Bytes     []byte
	Signature identity.Signature
}

// Sign signs a sum. The signer becomes the collector.
func (s *Sum) Sign(collector *identity.Identity) (Signed, error) {
	s.Collector = collector.Caller
	b, err := s.Bytes()
	if err != nil {
		return Signed{}, err
	}
	sig, err := collector.Sign(Purpose, b)
	return Signed{b, sig}, err
}

// Open verifies a signed sum and returns it. It refuses a sum that is not signed by its collector, or
// that has ended at the time at.
func (s Signed) Open(reader *identity.Identity, at time.Time) (*Sum, ID, error) {
	who, err := reader.Verify(s.Signature, Purpose, s.Bytes, at)
	if err != nil {
		return nil, ID{}, fmt.Errorf("sum: %w", err)
	}
	out, err := Parse(s.Bytes)
	switch {
	case err != nil:
		return nil, ID{}, err
	case who != out.Collector:
		return nil, ID{}, fmt.Errorf("sum: signed by %s, its collector is %s", who, out.Collector)
	case !at.Before(out.Ends):
		return nil, ID{}, fmt.Errorf("sum: it ended at %s", out.Ends.UTC().Format(time.RFC3339))
	}
	return out, sha256.Sum256(s.Bytes), nil
}

// Proto is the signed sum as a message of the calls.
func (s Signed) Proto() *rpc.SignedSum {
	return &rpc.SignedSum{Sum: s.Bytes, Certificate: s.Signature.Certificate, Signature: s.Signature.Value}
}

// FromProto reads what Proto made.
func FromProto(m *rpc.SignedSum) Signed {
	return Signed{m.GetSum(), identity.Signature{Certificate: m.GetCertificate(), Value: m.GetSignature()}}
}

// Share is one signed share of a participant.
type Share struct {
	Message   []byte // canonical bytes of a secsum.Message
	Signature []byte // Ed25519
}

// Seal signs a share with its participant's key. The signature covers the proof, which is equal for
// all helpers and has a commitment to the share of each. The proof can be shown to others without the
// share.
func Seal(m secsum.Message, key ed25519.PrivateKey) (Share, error) {
	b, err := m.MarshalBinary()
	if err != nil {
		return Share{}, err
	}
	p, err := ProofIn(m)
	if err != nil {
		return Share{}, err
	}
	return Share{b, ed25519.Sign(key, p.signable())}, nil
}

// By reports whether the key has signed the proof in the share. A secsum.Holder must check that the
// rest of the share matches the proof.
func (s Share) By(k Key) bool {
	var m secsum.Message
	if m.UnmarshalBinary(s.Message) != nil {
		return false
	}
	p, err := ProofIn(m)
	p.Signature = s.Signature
	return err == nil && p.By(k)
}

// Proof is the part of a participant's message that is equal for all helpers.
type Proof struct {
	Tag         secsum.Tag
	Participant int
	Bytes       []byte
	Signature   []byte
}

// ProofIn returns the proof of a share, without the signature.
func ProofIn(m secsum.Message) (Proof, error) {
	proof, _, err := secsum.ProofOf(m.Body)
	return Proof{Tag: m.Task, Participant: m.From, Bytes: proof}, err
}

// Digest returns the hash by which holders report a proof.
func (p Proof) Digest() [sha256.Size]byte { return sha256.Sum256(p.Bytes) }

// By reports whether the key has signed the proof.
func (p Proof) By(k Key) bool { return ed25519.Verify(k[:], p.signable(), p.Signature) }

func (p Proof) signable() []byte {
	b := append([]byte(shares), p.Tag[:]...)
	digest := p.Digest()
	return append(binary.BigEndian.AppendUint32(b, uint32(p.Participant)), digest[:]...)
}
