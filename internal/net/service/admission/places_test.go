// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMemoryOfMessages: a message counts by what it announces; one that is packed,
// or does not say, as the largest.
func TestMemoryOfMessages(t *testing.T) {
	for name, c := range map[string]struct {
		header [2]string
		length int64
		want   int64
	}{
		"announced":  {[2]string{"Content-Type", "application/proto"}, 100, 100 * cost},
		"identity":   {[2]string{"Content-Encoding", "identity"}, 100, 100 * cost},
		"packed":     {[2]string{"Content-Encoding", "gzip"}, 100, 1000 * cost},
		"by gRPC":    {[2]string{"Grpc-Encoding", "gzip"}, 100, 1000 * cost},
		"by stream":  {[2]string{"Connect-Content-Encoding", "gzip"}, 100, 1000 * cost},
		"no length":  {[2]string{"Content-Type", "application/grpc"}, -1, 1000 * cost},
		"no message": {[2]string{"Content-Type", "application/proto"}, 0, 0},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(""))
		r.ContentLength = c.length
		r.Header.Set(c.header[0], c.header[1])
		if got := memoryOf(r, 1000); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
