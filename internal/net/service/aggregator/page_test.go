// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
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
	if _, body := get("/"); !strings.Contains(body, "slot</dt><dd>1 of 4") ||
		!strings.Contains(body, "0 stored, 2 needed") {
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
	told := []string{id.String()[:12], "one report, ε = 2", "anyone with a key", "accuracy</dt><dd>about ", "95 % band",
		"weighted error", "by at most"}
	for _, want := range told {
		if !strings.Contains(body, want) {
			t.Errorf("the page of a finished task lacks %q:\n%s", want, body)
		}
	}
	if strings.Contains(body, "http://") || strings.Contains(body, "https://") {
		t.Error("the page reaches for something outside")
	}
	if _, body := get("/metrics"); !strings.Contains(body, "discreet_reports_stored_total 600") {
		t.Errorf("the metrics do not count 600 reports:\n%s", body)
	}
	secret := f.secretPlan(helpertest.New(t, f.log, f.authority, 3), 3, nil)
	f.announce(secret)
	if _, body := get("/"); !strings.Contains(body, "shares of one sum, ε = 2 (noise of all owners together, 3 helpers)") {
		t.Errorf("the page of a secret sum lacks what owners give:\n%s", body)
	}
	if _, body := get("/"); !strings.Contains(body, "owners</dt><dd>0 take part, 2 needed") ||
		strings.Contains(body, "reports of the smallest batch") {
		t.Errorf("the page of a secret sum lacks who takes part:\n%s", body)
	}
	if _, body := get("/metrics"); !strings.Contains(body, "discreet_task_epsilon{task=") ||
		!strings.Contains(body, "go_goroutines") {
		t.Errorf("the metrics lack an open task or the process:\n%s", body)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/elsewhere": 404} {
		if code, _ := get(path); code != want {
			t.Errorf("%s answers %d, want %d", path, code, want)
		}
	}
}

// TestEveryProcessTellsResults starts the next process when the reports are gone:
// its page shows the same.
func TestEveryProcessTellsResults(t *testing.T) {
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(nil))
	owners := f.owners(600, 1)
	_, err := owners.Run(t.Context(), id)
	must(t, err)
	f.model(id)
	results := func() string {
		t.Helper()
		for {
			w := httptest.NewRecorder()
			f.server.Page().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if _, after, done := strings.Cut(w.Body.String(), `class="state">done`); done {
				return after
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	before := results()
	f.serve()
	if after := results(); after != before || !strings.Contains(before, "95 % band") {
		t.Errorf("the page was\n%s\nand is\n%s", before, after)
	}
}

// TestPageInBrowser opens the page in a headless Chromium as wide as a phone: it
// has nothing to complain about, asks for nothing but the page, and needs no
// sideways scrolling. DISCREET_SCREENSHOT keeps what it looks like.
func TestPageInBrowser(t *testing.T) {
	size.OnlyLong(t, "starts a browser")
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here")
	}
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(nil))
	owners := f.owners(600, 1)
	_, err = owners.Run(t.Context(), id)
	must(t, err)
	f.model(id)
	f.announce(f.plan(func(a *tasks.Announcement) { a.Task.Nonce = strings.Repeat("cd", 16) }))
	var mu sync.Mutex
	asked := map[string]int{}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		f.server.Page().ServeHTTP(w, r)
	}))
	defer page.Close()
	shot := os.Getenv("DISCREET_SCREENSHOT")
	if shot == "" {
		shot = filepath.Join(t.TempDir(), "page.png")
	}
	run := func(args ...string) (out, log string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), browser,
			append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
				"--user-data-dir=" + t.TempDir(), "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
				"--window-size=390,844"}, args...)...)
		var said bytes.Buffer
		c.Stderr = &said
		text, err := c.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		return string(text), said.String()
	}
	_, log := run("--screenshot="+shot, page.URL)
	if strings.Contains(log, "CONSOLE") {
		t.Errorf("the browser complains:\n%s", log)
	}
	if dom, _ := run("--dump-dom", page.URL); strings.Count(dom, "<article>") != 2 {
		t.Errorf("the browser sees %d tasks, want 2:\n%s", strings.Count(dom, "<article>"), dom)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked["/"] == 0 {
		t.Errorf("the browser asked for %v, want the page alone", asked)
	}
	if info, err := os.Stat(shot); err != nil || info.Size() < 5000 {
		t.Errorf("no screenshot: %v", err)
	}
}
