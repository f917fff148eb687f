// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/federated/secsum"
	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/rpc"
)

const (
	// Purpose sets signatures of sums apart from others.
	Purpose = "discreet sum 1"
	// shares sets signatures of shares apart from others.
	shares = "discreet share 3\x00"
)

// Signed is a sum's bytes under its collector's signature.
type Signed struct {
	Bytes     []byte
	Signature identity.Signature
}

// Sign signs a sum, of which the signer becomes the collector.
func (s *Sum) Sign(collector *identity.Identity) (Signed, error) {
	s.Collector = collector.Caller
	b, err := s.Bytes()
	if err != nil {
		return Signed{}, err
	}
	sig, err := collector.Sign(Purpose, b)
	return Signed{b, sig}, err
}

// Open returns what its collector has signed. It refuses what anyone else has
// signed, and what has ended by the time at.
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

// Share is one share of a participant, signed and ready to be sent.
type Share struct {
	Message   []byte // canonical bytes of a secsum.Message
	Signature []byte // Ed25519
}

// Seal signs a share with its participant's key. What is signed is the proof, which is
// the same for all helpers and has a commitment to the share of each: it can be shown
// to others without the share.
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

// By reports whether the key has signed the proof in the share. That the rest of the
// share is what the proof is about is for a secsum.Holder to check.
func (s Share) By(k Key) bool {
	var m secsum.Message
	if m.UnmarshalBinary(s.Message) != nil {
		return false
	}
	p, err := ProofIn(m)
	p.Signature = s.Signature
	return err == nil && p.By(k)
}

// Proof is what one participant told helpers alike.
type Proof struct {
	Tag         secsum.Tag
	Participant int
	Bytes       []byte
	Signature   []byte
}

// ProofIn is the proof of a share, without the signature.
func ProofIn(m secsum.Message) (Proof, error) {
	proof, _, err := secsum.ProofOf(m.Body)
	return Proof{Tag: m.Task, Participant: m.From, Bytes: proof}, err
}

// Digest is what holders say of a proof.
func (p Proof) Digest() [sha256.Size]byte { return sha256.Sum256(p.Bytes) }

// By reports whether the key has signed the proof.
func (p Proof) By(k Key) bool { return ed25519.Verify(k[:], p.signable(), p.Signature) }

func (p Proof) signable() []byte {
	b := append([]byte(shares), p.Tag[:]...)
	digest := p.Digest()
	return append(binary.BigEndian.AppendUint32(b, uint32(p.Participant)), digest[:]...)
}
