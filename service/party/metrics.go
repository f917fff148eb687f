// SPDX-License-Identifier: Apache-2.0

package party

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/discreet-dp/discreet/service/problem"
)

// metrics count what a party does. None tells what a vote says.
type metrics struct {
	registry *prometheus.Registry
	answers  prometheus.Counter
	failures prometheus.Counter
	voting   prometheus.Histogram
	refusals *prometheus.CounterVec
	calls    *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		answers:  prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_party_answers_total", Help: "Queries answered with all votes, repeated ones included."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_party_failures_total", Help: "Times that the model or command failed to vote."}),
		voting:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "discreet_party_voting_seconds", Help: "How long voting took.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 8)}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_party_refusals_total", Help: "Calls refused, by kind of problem."}, []string{"kind"}),
		calls:    prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "discreet_party_call_seconds", Help: "How long calls took.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10)}, []string{"call"}),
	}
	m.registry.MustRegister(m.answers, m.failures, m.voting, m.refusals, m.calls)
	return m
}

func (m *metrics) answered() { m.answers.Inc() }

func (m *metrics) voted(took time.Duration, well bool) {
	m.voting.Observe(took.Seconds())
	if !well {
		m.failures.Inc()
	}
}

func (m *metrics) refused(k problem.Kind) { m.refusals.WithLabelValues(k.String()).Inc() }

func (m *metrics) call(call string, took time.Duration) {
	m.calls.WithLabelValues(call).Observe(took.Seconds())
}

// Page answers operators: what was spent, metrics, health. It is served without
// TLS, at an address that they alone reach, and changes nothing.
func (s *Server) Page() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("alive\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if _, _, err := s.record.spent(r.Context()); err != nil {
			http.Error(w, "the record does not answer", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	})
	return mux
}
