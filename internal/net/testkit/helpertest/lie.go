// SPDX-License-Identifier: Apache-2.0

package helpertest

import (
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/cloudflare/circl/group"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// Lie makes one helper answer requests for sums with its honest answer as changed by lie. Another
// helper (-1 for none) does not answer that call until the channel is closed. Both are started again.
func (c *Committee) Lie(liar, silent int, until <-chan struct{}, lie func(*secsum.Message) error) {
	c.t.Helper()
	c.Wrap = func(h int, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != rpc.HelperOpenProcedure:
			case h == silent:
				select {
				case <-until:
				case <-r.Context().Done():
					return
				}
			case h == liar:
				r.Header.Del("Accept-Encoding")
				said := httptest.NewRecorder()
				next.ServeHTTP(said, r)
				b := said.Body.Bytes()
				if said.Code == http.StatusOK {
					answer, sum := new(rpc.OpenResponse), new(secsum.Message)
					c.must(proto.Unmarshal(b, answer))
					c.must(sum.UnmarshalBinary(answer.Message))
					c.must(lie(sum))
					var err error
					answer.Message, err = sum.MarshalBinary()
					c.must(err)
					b, err = proto.Marshal(answer)
					c.must(err)
				}
				w.Header().Set("Content-Type", said.Header().Get("Content-Type"))
				w.WriteHeader(said.Code)
				_, _ = w.Write(b) // who asked may have gone
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	for _, h := range []int{liar, silent} {
		if h >= 0 {
			c.Kill(h)
			c.Start(h)
		}
	}
	c.Wrap = nil
}

// AddOne changes a helper's honest answer so that the opened sum is larger by one in a coordinate, if
// the given helpers, which include this one, are the quorum and the others are honest.
func AddOne(answering ...int) func(*secsum.Message) error {
	return func(m *secsum.Message) error {
		g := group.Ristretto255
		number := func(n int) group.Scalar { return g.NewScalar().SetUint64(uint64(n)) }
		weight := number(1) // of the answer in what is opened
		for _, h := range answering {
			if h != m.From {
				y := number(h + 1)
				difference := g.NewScalar().Sub(y, number(m.From+1))
				weight.Mul(weight, y.Mul(y, difference.Inv(difference)))
			}
		}
		last := m.Body[len(m.Body)-32:]
		s := g.NewScalar()
		if err := s.UnmarshalBinary(last); err != nil {
			return err
		}
		b, err := s.Add(s, weight.Inv(weight)).MarshalBinary()
		if err == nil {
			m.Body = append(slices.Clone(m.Body[:len(m.Body)-32]), b...)
		}
		return err
	}
}
