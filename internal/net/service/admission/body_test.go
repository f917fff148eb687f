// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// counted counts what is read of it.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestUnpackingStops: of a bomb, as much is unpacked as a message may have, and not
// a byte of what follows is looked at; so Connect, which goes on to see how large a
// message was, does not.
func TestUnpackingStops(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const most = 1000
	u := &unpacker{most: most}
	for range 2 { // as Connect keeps them
		packed := &counted{Reader: bytes.NewReader(bomb.Bytes())}
		if err := u.Reset(packed); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, u)
		if e := (*connect.Error)(nil); n != most+1 || !errors.As(err, &e) || e.Code() != connect.CodeResourceExhausted {
			t.Errorf("%d bytes and %v, want %d and that it is too large", n, err, most+1)
		}
		if packed.n > bomb.Len()/8 {
			t.Errorf("%d of %d packed bytes were read", packed.n, bomb.Len())
		}
	}
	var small bytes.Buffer
	z = gzip.NewWriter(&small)
	_, _ = z.Write(make([]byte, most))
	_ = z.Close()
	if err := u.Reset(&small); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(u, most+1)); n != most || err != nil {
		t.Errorf("of a message of just so many bytes: %d, %v", n, err)
	}
}

// TestPartsAreBounded: short parts by the thousand cost far more memory than their
// bytes, and are refused before they are parsed, by every codec; honest ones are
// not.
func TestPartsAreBounded(t *testing.T) {
	many, honest := new(rpc.UploadRequest), new(rpc.UploadRequest)
	for range 1000 {
		many.Reports = append(many.Reports, new(rpc.SignedReport))
		honest.Reports = append(honest.Reports, &rpc.SignedReport{Report: make([]byte, 109), Signature: make([]byte, 64)})
	}
	for _, c := range []connect.Codec{protobuf{bytesPerPart}, text{"json"}, text{"json; charset=utf-8"}} {
		for _, m := range []struct {
			message *rpc.UploadRequest
			refused bool
		}{{many, true}, {honest, false}} {
			b, err := c.Marshal(m.message)
			if err != nil {
				t.Fatal(err)
			}
			var back rpc.UploadRequest
			if err := c.Unmarshal(b, &back); (err != nil) != m.refused || m.refused == (len(back.GetReports()) > 0) {
				t.Errorf("%s: %d bytes: %v with %d reports", c.Name(), len(b), err, len(back.GetReports()))
			}
		}
		for _, bad := range []string{"", "\xff", "{", strings.Repeat("\x0a\x00", 1000)} {
			if err := c.Unmarshal([]byte(bad), new(rpc.UploadRequest)); err == nil && bad != "" {
				t.Errorf("%s takes %q", c.Name(), bad)
			}
		}
	}
}
