// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// Metrics count calls.
type Metrics struct {
	registry *prometheus.Registry
	refusals *prometheus.CounterVec
	calls    *prometheus.HistogramVec
}

// NewMetrics makes the metrics of calls and of the process, and includes a service's own.
func NewMetrics(own ...prometheus.Collector) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_refusals_total",
			Help: "Reports and calls refused, by kind of problem."}, []string{"call", "kind"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "discreet_call_seconds",
			Help: "How long calls took.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8)}, []string{"call"}),
	}
	m.registry.MustRegister(append(own, m.refusals, m.calls, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	return m
}

// Ends reports when a process's certificate and its revocation lists expire.
type Ends struct{ Of *identity.Identity }

var (
	certificateEnd = prometheus.NewDesc("discreet_certificate_end_seconds",
		"When the process's own certificate ends, as Unix time.", nil, nil)
	listEnd = prometheus.NewDesc("discreet_revocations_end_seconds",
		"When the first list of revoked certificates ends, as Unix time; absent without lists.", nil, nil)
)

// Describe implements prometheus.Collector.
func (Ends) Describe(to chan<- *prometheus.Desc) {
	to <- certificateEnd
	to <- listEnd
}

// Collect implements prometheus.Collector.
func (e Ends) Collect(to chan<- prometheus.Metric) {
	own, list := e.Of.Ends()
	to <- prometheus.MustNewConstMetric(certificateEnd, prometheus.GaugeValue, float64(own.Unix()))
	if !list.IsZero() {
		to <- prometheus.MustNewConstMetric(listEnd, prometheus.GaugeValue, float64(list.Unix()))
	}
}

// Refused counts a refusal, of a call or of one item in it.
func (m *Metrics) Refused(call string, k problem.Kind) {
	m.refusals.WithLabelValues(call, k.String()).Inc()
}

// RefusedItems counts the refusals of a call's items, nil for accepted ones, and returns them as messages.
func (m *Metrics) RefusedItems(call string, refusals []*problem.Problem) (out []*rpc.Refusal) {
	for i, p := range refusals {
		if p != nil {
			m.Refused(call, p.Kind)
			out = append(out, &rpc.Refusal{Index: uint32(i), Problem: p.Proto()})
		}
	}
	return out
}

// Took records the duration of a call.
func (m *Metrics) Took(call string, d time.Duration) {
	m.calls.WithLabelValues(call).Observe(d.Seconds())
}

// Watch serves metrics, and whether the service is alive and ready. It is served without TLS, at an
// address that only operators can reach, and changes nothing.
func (m *Metrics) Watch(ready func(context.Context) error) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("alive\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r.Context()); err != nil {
			http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	})
	return mux
}
