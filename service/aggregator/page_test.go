// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPageShowsProgress looks at the page, the metrics and the health of an
// aggregator whose task is done.
func TestPageShowsProgress(t *testing.T) {
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(nil))
	page := httptest.NewServer(f.server.Page())
	defer page.Close()
	get := func(path string) (int, string) {
		t.Helper()
		r, err := http.Get(page.URL + path)
		must(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		must(t, err)
		return r.StatusCode, string(b)
	}
	if _, body := get("/"); !strings.Contains(body, "slot</dt><dd>1 of 4") || !strings.Contains(body, "0 stored, 2 needed") {
		t.Errorf("the page of an open task lacks its slot or its reports:\n%s", body)
	}
	owners := f.owners(600, 1)
	_, err := owners.Run(t.Context(), id)
	must(t, err)
	f.model(id)
	_, body := get("/")
	for !strings.Contains(body, `class="state">done`) { // the model is in the store a moment before
		_, body = get("/")
	}
	for _, want := range []string{id.String()[:12], "one report, ε = 2", "weighted error", "by at most"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of a finished task lacks %q", want)
		}
	}
	if strings.Contains(body, "http://") || strings.Contains(body, "https://") {
		t.Error("the page reaches for something outside")
	}
	if _, body := get("/metrics"); !strings.Contains(body, "discreet_reports_stored_total 600") {
		t.Errorf("the metrics do not count 600 reports:\n%s", body)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/elsewhere": 404} {
		if code, _ := get(path); code != want {
			t.Errorf("%s answers %d, want %d", path, code, want)
		}
	}
}
