// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/service/problem"
)

// metrics count what the service does. None tells what a report says.
type metrics struct {
	registry *prometheus.Registry
	accepted prometheus.Counter
	refusals *prometheus.CounterVec
	calls    *prometheus.HistogramVec
	storage  prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_reports_stored_total", Help: "Reports stored for the first time."}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "discreet_refusals_total", Help: "Reports and calls refused, by kind of problem."}, []string{"call", "kind"}),
		calls:    prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "discreet_call_seconds", Help: "How long calls took.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8)}, []string{"call"}),
		storage:  prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_storage_failures_total", Help: "Transactions that the store failed to commit."}),
	}
	m.registry.MustRegister(m.accepted, m.refusals, m.calls, m.storage)
	return m
}

func (m *metrics) stored(n int) { m.accepted.Add(float64(n)) }
func (m *metrics) refused(call string, k problem.Kind) {
	m.refusals.WithLabelValues(call, k.String()).Inc()
}
func (m *metrics) call(call string, took time.Duration) {
	m.calls.WithLabelValues(call).Observe(took.Seconds())
}
func (m *metrics) storageFailed() { m.storage.Inc() }
