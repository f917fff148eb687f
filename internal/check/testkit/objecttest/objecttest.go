// SPDX-License-Identifier: Apache-2.0

// Package objecttest starts object stores in the test's own process. They can be slow, refuse requests
// and break connections.
package objecttest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is the bucket of a Store.
const Bucket = "tables"

// Keys of a Store, which no output may contain.
const (
	KeyID  = "AKIDOFTHESTORE"
	Secret = "secretofthestore"
)

// Store keeps objects in memory.
type Store struct {
	t      testing.TB
	URL    string
	inside http.Handler

	mu    sync.Mutex
	asked []string
	fault Fault
}

// Fault decides the answer to a request; n is its number, from 0, since Break.
type Fault func(n int, r *http.Request) Answer

// Answer is how a Fault changes the answer to a request.
type Answer struct {
	Status int // replaces the right answer, without a body; 0: no change
	Body   string
	Cut    bool // the connection breaks in the middle of the right answer
}

// Start starts a store, and sets the environment variables with its address and keys. It supports
// If-Match.
func Start(t testing.TB, setenv func(name, value string)) *Store {
	s := &Store{t: t, inside: gofakes3.New(s3mem.New()).Server()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	s.inside.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, s.URL+"/"+Bucket, nil))
	setenv("AWS_ENDPOINT_URL", s.URL)
	setenv("AWS_ACCESS_KEY_ID", KeyID)
	setenv("AWS_SECRET_ACCESS_KEY", Secret)
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		setenv(name, "")
	}
	nowhere := filepath.Join(t.TempDir(), "no-such-file")
	setenv("AWS_CONFIG_FILE", nowhere)
	setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
	return s
}

// Put stores an object, replacing one with the same key, and returns its address.
func (s *Store) Put(key string, data []byte) (address string) {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPut, (&url.URL{Path: "/" + Bucket + "/" + key}).String(), bytes.NewReader(data))
	r.Header.Set("Content-Length", strconv.Itoa(len(data)))
	a := httptest.NewRecorder()
	if s.inside.ServeHTTP(a, r); a.Code != http.StatusOK {
		s.t.Fatalf("put %s: HTTP %d", key, a.Code)
	}
	return "s3://" + Bucket + "/" + key
}

// Break lets f decide on requests from now on; nil restores normal answers.
func (s *Store) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.asked = f, nil
}

// Asked lists the requests since Break, each with its range.
func (s *Store) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n, fault := len(s.asked), s.fault
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Range")))
	s.mu.Unlock()
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+KeyID+"/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	var answer Answer
	if fault != nil {
		answer = fault(n, r)
	}
	if answer.Status != 0 {
		w.WriteHeader(answer.Status)
		_, _ = w.Write([]byte(answer.Body))
		return
	}
	right := httptest.NewRecorder()
	s.inside.ServeHTTP(right, r)
	if tag := r.Header.Get("If-Match"); tag != "" && right.Header().Get("ETag") != tag {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	for name, values := range right.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(right.Code)
	body := right.Body.Bytes()
	if answer.Cut {
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}
