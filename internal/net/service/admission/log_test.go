// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// spellings are the ways in which bytes could stand in a line of a log.
func spellings(b []byte) []string {
	numbers := strings.Trim(fmt.Sprint(b), "[]")
	return []string{
		string(b), hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)),
		numbers, strings.ReplaceAll(numbers, " ", ","), strings.Trim(fmt.Sprintf("%#v", b), "[]byte{}"),
		base64.StdEncoding.EncodeToString(b[:len(b)/3*3]),
	}
}

// Whatever becomes of a call, also where it fails for a fault of ours, the log holds
// nothing of its message.
func TestFailedCallsAreLoggedWithoutMessages(t *testing.T) {
	secret := []byte("ashareofsomebody") // letters, which stand in a quoted text as they are
	for name, fail := range map[string]func(context.Context) error{
		"it is answered":       func(context.Context) error { return nil },
		"it is refused":        func(context.Context) error { return problem.New(problem.Forbidden, "") },
		"an error of ours":     func(context.Context) error { return errors.New("the disk is full") },
		"it panics":            func(context.Context) error { panic("a fault") },
		"its context is ended": func(ctx context.Context) error { return context.Canceled },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, &helper{share: fail})
			ask := &rpc.ShareRequest{SumId: secret, Shares: []*rpc.SignedShare{{Message: secret, Signature: secret}}}
			_, _ = s.client(identity.Owner).Share(t.Context(), connect.NewRequest(ask))
			log := s.log.String()
			if name != "it is answered" && !strings.Contains(log, rpc.HelperShareProcedure) {
				t.Errorf("the log tells nothing of the call:\n%s", log)
			}
			for _, way := range spellings(secret) {
				if strings.Contains(log, way) {
					t.Errorf("the log tells of the message:\n%s", log)
				}
			}
		})
	}
}
