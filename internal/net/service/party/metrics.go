// SPDX-License-Identifier: Apache-2.0

package party

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// metrics count a party's operations. They do not reveal the content of votes.
type metrics struct {
	*admission.Metrics
	answers  prometheus.Counter
	failures prometheus.Counter
	voting   prometheus.Histogram
}

func newMetrics(self *identity.Identity) *metrics {
	m := &metrics{
		answers: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_party_answers_total",
			Help: "Queries answered in full, repeated ones included."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_party_failures_total",
			Help: "Times that the model or command failed to vote."}),
		voting: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "discreet_party_voting_seconds",
			Help: "How long voting took.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 8)}),
	}
	m.Metrics = admission.NewMetrics(admission.Ends{Of: self}, m.answers, m.failures, m.voting)
	return m
}

func (m *metrics) noteVotes(took time.Duration, well bool) {
	m.voting.Observe(took.Seconds())
	if !well {
		m.failures.Inc()
	}
}

// Page serves operators; see admission.Metrics.Watch.
func (s *Server) Page() http.Handler {
	return s.metrics.Watch(s.record.probeRecord)
}
