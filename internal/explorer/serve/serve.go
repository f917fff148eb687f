// SPDX-License-Identifier: Apache-2.0

// Package serve serves the explorer's page to a browser on this machine, and charges the page's
// requests to the ledger. It receives plans, jobs and prices, and released models; no row reaches it.
//
// Anyone who has the token may charge. The Origin header excludes pages of other origins, and the Host
// header excludes other names that resolve to this machine.
package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/explorer/planning"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/train"
)

// types are the kinds of files that are served.
var types = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".wasm": "application/wasm",
	".yaml": "application/yaml", ".csv": "text/csv; charset=utf-8"}

// policy lets the page load its own files and compile its engine, and nothing else.
const policy = "default-src 'self' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

// Engine is the name of the engine's file.
const Engine = "explorer.wasm"

const (
	maxBody   = 16 << 20 // bytes per request: at most 2 MiB for a schema, the rest for models
	maxHeader = 8 << 10
)

// Server serves one page.
type Server struct {
	files  map[string][]byte // by path
	hosts  []string          // names of this server in requests
	token  string            // "" if nothing can be charged
	budget *budget
	bodies chan struct{} // holds one value while a request with a body is read and answered
}

// New makes a server for the files of folders; if two have the same name, the first is used. l may be
// nil: then nothing is counted, and there is no token.
func New(listener net.Listener, l *Ledger, folders ...fs.FS) (*Server, error) {
	s := &Server{files: map[string][]byte{}, bodies: make(chan struct{}, 1)}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		s.hosts = append(s.hosts, host+":"+port)
	}
	if l != nil {
		s.token, s.budget = rand.Text(), newBudget(l)
	}
	for _, folder := range slices.Backward(folders) {
		entries, err := fs.ReadDir(folder, ".")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := strings.TrimSuffix(e.Name(), ".gz")
			if !e.Type().IsRegular() || types[path.Ext(name)] == "" {
				continue
			}
			if s.files["/"+e.Name()], err = fs.ReadFile(folder, e.Name()); err != nil {
				return nil, err
			}
		}
	}
	if s.files["/index.html"] == nil || s.files["/"+Engine] == nil && s.files["/"+Engine+".gz"] == nil {
		return nil, &dp.ParamError{Op: "ui", Param: "files", Want: "must name a folder with " + Engine + ", which this program was " +
			"built without", Hint: "make explorer writes out/explorer; releases have it built in"}
	}
	s.files["/"] = s.files["/index.html"]
	s.files["/census.yaml"], s.files["/people.csv"] = census.SchemaYAML(), census.CSV(0, census.People)
	if l != nil { // a page that was opened without the token must not take itself for the playground
		s.files["/counted.js"] = []byte("export const counted = true, files = true;\n")
	}
	return s, nil
}

// Address returns the address to open. The part after # stays in the browser.
func (s *Server) Address() string {
	address := "http://" + s.hosts[0] + "/"
	if s.token != "" {
		address += "#token=" + s.token
	}
	return address
}

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "X-Frame-Options": "DENY"} {
		w.Header().Set(name, value)
	}
	origin := r.Header.Get("Origin")
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case !slices.Contains(s.hosts, r.Host):
		refuse(w, http.StatusMisdirectedRequest, "this server is called by another name")
	case origin != "" && origin != "http://"+r.Host, !slices.Contains([]string{"", "same-origin", "none"}, site):
		refuse(w, http.StatusForbidden, "this page is of another origin")
	case strings.HasPrefix(r.URL.Path, "/api/"):
		s.serveCall(w, r, origin)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "files are for GET")
	default:
		s.serveFile(w, r)
	}
}

// serveFile serves a file by its exact path, without a lookup in the file system.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	file, known := s.files[r.URL.Path]
	if !known {
		if file, known = s.files[r.URL.Path+".gz"]; !known {
			refuse(w, http.StatusNotFound, "there is no such file")
			return
		}
		w.Header().Set("Content-Encoding", "gzip") // what has WebAssembly can unpack
	}
	kind := types[cmp.Or(path.Ext(r.URL.Path), ".html")]
	if kind == "" { // packed, by its own name
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
}

// serveCall answers a call of the page, which must have the token.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, origin string) {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.token == "" || !bearer || subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
		refuse(w, http.StatusUnauthorized, "the token is another: open the address that discreet ui printed")
		return
	}
	call := map[string]func(context.Context, []byte) (any, error){"POST /api/charge": s.budget.charge,
		"POST /api/find": s.budget.find, "POST /api/result": s.budget.keep, "GET /api/budget": s.budget.show}[r.Method+" "+r.URL.Path]
	if call == nil {
		refuse(w, http.StatusNotFound, "there is no such call")
		return
	}
	var body []byte
	if r.Method == http.MethodPost {
		if origin == "" || r.Header.Get("Content-Type") != "application/json" {
			refuse(w, http.StatusForbidden, "calls are the page's own, in JSON")
			return
		}
		select { // one at a time: a page makes no two, and each takes several times its length
		case s.bodies <- struct{}{}:
			defer func() { <-s.bodies }()
		case <-r.Context().Done():
			return
		}
		var b bytes.Buffer
		b.Grow(int(min(max(r.ContentLength, 0), maxBody)) + bytes.MinRead)
		if _, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			refuse(w, http.StatusRequestEntityTooLarge, "the request is too long or was cut short")
			return
		}
		body = b.Bytes()
	}
	answer, err := call(r.Context(), body)
	if err != nil {
		refuse(w, statusOf(err), planning.Words(err))
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// statusOf returns the HTTP status for a call's error.
func statusOf(err error) int {
	if isBudget(err) {
		return http.StatusConflict
	}
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return http.StatusBadRequest
	}
	if _, ok := errors.AsType[*train.RequestError](err); ok {
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"message": message}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // whoever has gone needs no answer
}
