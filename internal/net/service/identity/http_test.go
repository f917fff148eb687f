// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// TestMisfits: what no later try mends is said to be so, and nothing else is.
func TestMisfits(t *testing.T) {
	a := authority(t)
	var answer http.HandlerFunc
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	server.TLS, server.EnableHTTP2 = issue(t, a, identity.Aggregator, "main").Server(), true
	server.StartTLS()
	defer server.Close()
	down := httptest.NewServer(nil)
	down.Close()
	ended, err := a.Issue(identity.Caller{Role: identity.Owner, Name: "clinic"}, nil, now.Add(-2*time.Hour), time.Hour)
	must(t, err)
	owner := issue(t, a, identity.Owner, "clinic")
	for name, k := range map[string]struct {
		who    *identity.Identity
		url    string
		answer http.HandlerFunc
		want   string // "": passes
	}{
		"an answer":             {owner, server.URL, func(http.ResponseWriter, *http.Request) {}, ""},
		"a server that is down": {owner, "https" + strings.TrimPrefix(down.URL, "http"), nil, ""},
		"a broken connection": {owner, server.URL, func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, ""},
		"a redirect": {owner, server.URL, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusSeeOther)
		}, "redirect"},
		"a redirect without where": {owner, server.URL, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusFound)
		}, "redirect"},
		"no TLS":               {owner, down.URL, nil, "must be called by https"},
		"an ended certificate": {ended, server.URL, nil, "the caller's own certificate ended at"},
	} {
		t.Run(name, func(t *testing.T) {
			answer = k.answer
			client := k.who.HTTPClient(identity.Aggregator)
			defer client.CloseIdleConnections()
			response, err := client.Post(k.url, "text/plain", strings.NewReader("a report"))
			if err == nil {
				response.Body.Close()
			}
			misfit := (*identity.MisfitError)(nil)
			switch found := errors.As(err, &misfit); {
			case found != (k.want != ""):
				t.Errorf("err = %v, want %q", err, k.want)
			case found && (!strings.Contains(misfit.Error(), k.want) || !strings.Contains(k.url, misfit.Server)):
				t.Errorf("err = %v, want %q of %s", misfit, k.want, k.url)
			}
		})
	}
}

// A certificate of another role is named, and one that is absent is not.
func TestRolesAreRefusedByName(t *testing.T) {
	id := &identity.Identity{Caller: identity.Caller{Role: identity.Helper, Name: "one"}}
	if err := id.CheckRole("helper", identity.Helper); err != nil {
		t.Error(err)
	}
	for err, want := range map[error]string{
		id.CheckRole("aggregator", identity.Aggregator):              "aggregator: certificate must be of the role aggregator (got helper/one)",
		(*identity.Identity)(nil).CheckRole("owner", identity.Owner): "owner: certificate must be given (none given)",
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
