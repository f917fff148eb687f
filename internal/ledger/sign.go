// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/edkey"
)

// signed is the detail of an entry that a key has signed. Of is the detail that the entry would have
// without the signature.
type signed struct {
	Key       string          `json:"key"`       // public, as hexadecimal digits
	Signature string          `json:"signature"` // of signedText, as hexadecimal digits
	Of        json.RawMessage `json:"of"`
}

// keyName returns the name of a key in entries, "" for none.
func keyName(key ed25519.PrivateKey) string {
	if key == nil {
		return ""
	}
	return hex.EncodeToString(key.Public().(ed25519.PublicKey))
}

// parseKey returns the public key of a name.
func parseKey(name string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(name)
	if err == nil {
		err = edkey.Check(key)
	}
	if err == nil && hex.EncodeToString(key) != name {
		err = errors.New("a key must be written in lower-case digits")
	}
	return key, err
}

// signedText is the text that the signature of an entry covers: all of the entry except the signature.
// It includes the position in the ledger, so that the signature is valid nowhere else.
func (e Entry) signedText(of json.RawMessage) []byte {
	e.Detail = of
	return []byte("discreet ledger signature 1\n" + e.hashEntry())
}

// sign signs an entry whose position is fixed.
func (e *Entry) sign(key ed25519.PrivateKey) {
	s := signed{Key: keyName(key), Signature: hex.EncodeToString(ed25519.Sign(key, e.signedText(e.Detail))), Of: e.Detail}
	e.Detail = encodeDetail(s)
}

// unsign returns the detail of an entry without its signature, and the key that signed it. For an
// unsigned entry it returns "" and the detail. It does not check the signature.
func (e *Entry) unsign() (s signed, of json.RawMessage) {
	if json.Unmarshal(e.Detail, &s) != nil || s.Of == nil {
		return signed{}, e.Detail
	}
	return s, s.Of
}

// decode decodes the detail of an entry, signed or not.
func (e *Entry) decode(into any) error {
	_, of := e.unsign()
	if json.Unmarshal(of, into) != nil {
		return &Damaged{e.Seq, "its detail is not as this program writes it"}
	}
	return nil
}

// signer returns the key that signed an entry, "" for none, and the detail without the signature. It
// returns an error if the signature is not valid for the entry at its position. checked holds the
// hashes of entries whose signatures were checked before: a hash covers the signature and all that was
// signed.
func (e *Entry) signer(checked *sync.Map) (key string, of json.RawMessage, err error) {
	s, of := e.unsign()
	if s.Of == nil {
		return "", of, nil
	}
	if _, ok := checked.Load(e.Hash); ok {
		return s.Key, of, nil
	}
	public, err := parseKey(s.Key)
	if err != nil {
		return "", nil, err
	}
	signature, err := hex.DecodeString(s.Signature)
	if err != nil || !ed25519.Verify(public, e.signedText(of), signature) {
		return "", nil, errors.New("its signature is not of its key")
	}
	checked.Store(e.Hash, true)
	return s.Key, of, nil
}
