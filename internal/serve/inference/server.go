// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/places"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

// Options determine what is served, to whom, and within which limits.
type Options struct {
	Models []string // "file", named after the file, or "name=file"; at least one
	Tokens []string // each request must have one of them; none: requests need no token
	// Trusted are the keys whose releases are served; nil: any model.
	Trusted     release.Trusted
	MaxBody     int64  // bytes per request
	MaxRows     int    // per request
	Concurrency int    // simultaneous requests; further ones wait briefly, then are refused
	Memory      int64  // bytes for all requests together
	Version     string // of the program
	Log         *slog.Logger
	Faults      *log.Logger // receives errors of connections; nil: standard error
	Clock       func() time.Time
}

// DefaultOptions returns limits that suit one machine.
func DefaultOptions() Options {
	return Options{MaxBody: 4 << 20, MaxRows: 10_000, Concurrency: 64, Memory: 256 << 20, Clock: time.Now}
}

// Server answers requests about models. It is safe for concurrent use.
type Server struct {
	opts    Options
	tokens  [][sha256.Size]byte
	models  []*slot
	places  *places.Places[caller]
	grace   time.Duration
	read    func(path string, most int64) ([]byte, error) // readRegular
	stopped atomic.Bool
	counts  *counts
}

// slot holds a model, whose file may be replaced while it is served.
type slot struct {
	name, path string
	now        atomic.Pointer[served]
	file       os.FileInfo // its content; used by the goroutine that reads it
	reading    atomic.Bool // the file is being read
}

var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// New reads the models. It refuses invalid limits with a *dp.ParamError.
func New(o Options) (*Server, error) {
	bad := dp.RefuseFor("serve")
	switch {
	case len(o.Models) == 0:
		return nil, bad("model", "must be given", nil)
	case o.MaxBody < 1 || o.MaxBody > 1<<30:
		return nil, bad("max body", "must be 1 to 2^30 bytes", o.MaxBody)
	case o.MaxRows < 1 || o.MaxRows > 1<<20:
		return nil, bad("max rows", "must be 1 to 2^20", o.MaxRows)
	case o.Concurrency < 1 || o.Concurrency > 1<<16:
		return nil, bad("concurrency", "must be 1 to 65536", o.Concurrency)
	case o.Memory < 1 || o.Memory > 1<<40:
		return nil, bad("memory", "must be 1 to 2^40 bytes", o.Memory)
	}
	s := &Server{opts: o, grace: grace, read: readRegular}
	for _, t := range o.Tokens {
		s.tokens = append(s.tokens, sha256.Sum256([]byte(t)))
	}
	s.places = places.New[caller](o.Concurrency, o.Memory, s.shares(), patience)
	s.places.LimitWaiting(max(leastRoom, waitingPerPlace*o.Concurrency))
	for _, given := range o.Models {
		name, path, named := strings.Cut(given, "=")
		if !named {
			path = given
			name = strings.TrimSuffix(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json"), ".zip")
		}
		if !modelName.MatchString(name) {
			return nil, bad("model", "must have a name of letters, digits, dots, dashes and underscores, as in NAME=FILE",
				strconv.Quote(name))
		}
		if slices.ContainsFunc(s.models, func(m *slot) bool { return m.name == name }) {
			return nil, bad("model", "must have a name of its own", strconv.Quote(name))
		}
		s.models = append(s.models, &slot{name: name, path: path})
	}
	s.counts = newCounts(s)
	for _, m := range s.models {
		if _, err := s.load(m); err != nil {
			return nil, err
		}
	}
	return s, s.checkMemory()
}

// load reads the file of a model unless it is unchanged.
func (s *Server) load(m *slot) (changed bool, err error) {
	info, err := os.Stat(m.path)
	if err != nil {
		return false, err
	}
	if m.file != nil && os.SameFile(info, m.file) && info.ModTime().Equal(m.file.ModTime()) &&
		info.Size() == m.file.Size() {
		return false, nil
	}
	file, err := s.read(m.path, release.MaxFile)
	var next *served
	if err == nil {
		next, err = loadServed(m.name, m.path, file, s.opts.Trusted)
	}
	m.file = info // a file that cannot be read is tried once
	if err != nil {
		return false, err
	}
	m.now.Store(next)
	return true, nil
}

// Reload loads the files that were replaced, and returns when all of them have been read. If a file
// cannot be served, the previous model stays. A file that an earlier call is still reading is skipped.
func (s *Server) Reload() {
	var all sync.WaitGroup
	for _, m := range s.models {
		if m.reading.CompareAndSwap(false, true) {
			all.Go(func() {
				defer m.reading.Store(false)
				s.reloadModel(m)
			})
		}
	}
	all.Wait()
}

func (s *Server) reloadModel(m *slot) {
	switch changed, err := s.load(m); {
	case err != nil:
		s.counts.reloads.WithLabelValues(m.name, "failed").Inc()
		s.opts.Log.Error("the file of a model cannot be served; the model stays as it was", "model", m.name, "error", err)
	case changed:
		s.counts.reloads.WithLabelValues(m.name, "done").Inc()
		s.opts.Log.Info("a model was replaced", "model", m.name, "version", m.now.Load().version)
	}
}

// Stop makes the server report that it is not ready, so that it gets no new requests.
func (s *Server) Stop() { s.stopped.Store(true) }

func (s *Server) isReady() bool { return !s.stopped.Load() }

// find returns the model with a name and version; any version if version is "".
func (s *Server) find(name, version string) (*served, error) {
	for _, m := range s.models {
		if m.name == name {
			if now := m.now.Load(); version == "" || version == now.version {
				return now, nil
			}
		}
	}
	return nil, errUnknownModel
}

var extensions = []string{"binary_tensor_data"}

// Handler returns the handler of the whole service: the protocol over HTTP and gRPC, and metrics.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	})
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) {
		s.writeReady(w, map[string]any{"ready": true}, nil)
	})
	open := http.NewServeMux() // to those who have a place
	open.HandleFunc("GET /v2", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"name": platform, "version": s.opts.Version, "extensions": extensions})
	})
	open.HandleFunc("GET /v2/models", func(w http.ResponseWriter, _ *http.Request) {
		list := []map[string]string{}
		for _, m := range s.models {
			list = append(list, map[string]string{"name": m.name, "version": m.now.Load().version})
		}
		writeJSON(w, http.StatusOK, map[string]any{"models": list})
	})
	for _, version := range []string{"", "/versions/{version}"} {
		open.HandleFunc("GET /v2/models/{model}"+version, func(w http.ResponseWriter, r *http.Request) {
			m, err := s.find(r.PathValue("model"), r.PathValue("version"))
			if err != nil {
				writeProblem(w, err)
				return
			}
			writeJSON(w, http.StatusOK, m.describe())
		})
		open.HandleFunc("GET /v2/models/{model}"+version+"/ready", func(w http.ResponseWriter, r *http.Request) {
			_, err := s.find(r.PathValue("model"), r.PathValue("version"))
			s.writeReady(w, map[string]any{"name": r.PathValue("model"), "ready": true}, err)
		})
		open.HandleFunc("POST /v2/models/{model}"+version+"/infer", s.infer)
	}
	open.Handle(oip.NewGRPCInferenceServiceHandler(calls{s}, connect.WithReadMaxBytes(int(s.opts.MaxBody)),
		connect.WithCodec(messages{s}), connect.WithCompression("gzip", nil, nil)))
	// Metrics are there when all places are taken, too.
	metrics := promhttp.HandlerFor(s.counts.registry, promhttp.HandlerOpts{DisableCompression: true,
		MaxRequestsInFlight: metricsAtOnce})
	mux.Handle("GET /metrics", s.demandToken(func(w http.ResponseWriter, r *http.Request, _ caller) {
		metrics.ServeHTTP(w, r)
	}))
	mux.Handle("/", s.demandToken(func(w http.ResponseWriter, r *http.Request, who caller) { s.admit(w, r, who, open) }))
	return mux
}

// metricsAtOnce is the largest number of simultaneous requests for metrics.
const metricsAtOnce = 4

// demandToken passes on requests that have a valid token.
func (s *Server) demandToken(next func(http.ResponseWriter, *http.Request, caller)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum, who := sha256.Sum256([]byte(given)), 0
		for k, t := range s.tokens {
			who |= (k + 1) * subtle.ConstantTimeCompare(sum[:], t[:])
		}
		if len(s.tokens) > 0 && (!ok || who == 0) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			answerProblem(w, r, errToken)
			return
		}
		next(w, r, caller(who))
	})
}

func (s *Server) writeReady(w http.ResponseWriter, said map[string]any, err error) {
	switch {
	case err != nil:
		writeProblem(w, err)
	case !s.isReady():
		writeProblem(w, &problem{http.StatusServiceUnavailable, errors.New("the server is stopping")})
	default:
		writeJSON(w, http.StatusOK, said)
	}
}

// infer answers an inference request over HTTP.
func (s *Server) infer(w http.ResponseWriter, r *http.Request) {
	var body, raw []byte
	err := s.answerCall(r.Context(), "rest", r.PathValue("model"), r.PathValue("version"), func(m *served) (int, error) {
		text, err := readBody(r, s.opts.MaxBody)
		if err != nil {
			return 0, err
		}
		length, err := headerLength(r)
		if err != nil {
			return 0, err
		}
		c, err := readRequest(text, length, s.largestShape())
		if err != nil {
			return 0, err
		}
		a, err := m.predictRows(c, s.opts.MaxRows, s.memoryOf(r.Context()))
		if err != nil {
			return 0, err
		}
		body, raw = m.writeAnswer(c, a)
		return a.rows, nil
	})
	if err != nil {
		writeProblem(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if raw != nil {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set(binaryHeader, strconv.Itoa(len(body)))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+len(raw)))
	_, _ = w.Write(body) // whoever is gone needs no answer
	if raw != nil {
		_, _ = w.Write(raw)
	}
}

// answerCall finds the model, counts and logs; work returns the number of rows it answered.
func (s *Server) answerCall(ctx context.Context, protocol, name, version string,
	work func(*served) (int, error)) error {
	begin := s.opts.Clock()
	m, err := s.find(name, version)
	scored := 0
	if err == nil {
		version = m.version
		scored, err = work(m)
	} else {
		name, version = "", "" // not the caller's words
	}
	s.note(ctx, protocol, name, version, scored, s.opts.Clock().Sub(begin), err)
	return err
}

// note counts and logs the result of a request.
func (s *Server) note(ctx context.Context, protocol, name, version string, scored int, took time.Duration, err error) {
	status := statusOf(err)
	s.counts.add(protocol, name, status, scored, took)
	switch {
	case status == http.StatusInternalServerError:
		s.opts.Log.Error("a request failed", "model", name, "error", err)
	case err != nil:
		s.opts.Log.Info("a request was refused", "protocol", protocol, "model", name, "version", version, "status", status,
			"microseconds", took.Microseconds())
	case s.opts.Log.Enabled(ctx, slog.LevelDebug):
		s.opts.Log.Debug("a request was answered", "protocol", protocol, "model", name, "version", version,
			"scored", scored, "microseconds", took.Microseconds())
	}
}

func writeProblem(w http.ResponseWriter, err error) {
	status, said := describeError(err)
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]string{"error": said})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // all of them are texts and numbers
		panic(fmt.Sprintf("inference: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// counts are the metrics for operators.
type counts struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	rows     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	reloads  *prometheus.CounterVec
}

func newCounts(s *Server) *counts {
	c := &counts{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_inference_requests_total",
			Help: "Inference requests by protocol, model and HTTP status."}, []string{"protocol", "model", "status"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_inference_rows_total",
			Help: "Rows that were scored, by model."}, []string{"model"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "discreet_inference_seconds",
			Help: "How long requests took to answer, by model.", Buckets: prometheus.ExponentialBuckets(5e-5, 2, 14)},
			[]string{"model"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_inference_reloads_total",
			Help: "Files of models that were replaced, by outcome."}, []string{"model", "outcome"}),
	}
	standing := func(name, help string, of func(held, waiting int) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			return float64(of(s.places.Standing()))
		})
	}
	c.registry.MustRegister(c.requests, c.rows, c.seconds, c.reloads,
		standing("discreet_inference_in_flight", "Requests that hold a place, of all protocols, held open or answered.",
			func(held, _ int) int { return held }),
		standing("discreet_inference_waiting", "Requests that wait for a place.",
			func(_, waiting int) int { return waiting }))
	return c
}

func (c *counts) add(protocol, model string, status, rows int, took time.Duration) {
	c.requests.WithLabelValues(protocol, model, strconv.Itoa(status)).Inc()
	c.rows.WithLabelValues(model).Add(float64(rows))
	c.seconds.WithLabelValues(model).Observe(took.Seconds())
}
