// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/net/service/admission"
)

// metrics count the service's operations. They do not reveal the content of reports.
type metrics struct {
	*admission.Metrics
	accepted prometheus.Counter
	storage  prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		accepted: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_reports_stored_total",
			Help: "Reports stored for the first time."}),
		storage: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_storage_failures_total",
			Help: "Transactions that the store failed to commit."}),
	}
	m.Metrics = admission.NewMetrics(admission.Ends{Of: s.Self}, m.accepted, m.storage, gauges{s})
	return m
}
