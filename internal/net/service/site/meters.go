// SPDX-License-Identifier: Apache-2.0

package site

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/net/service/admission"
)

// meters count a site's operations. They do not depend on rows.
type meters struct {
	*admission.Metrics
	answers  prometheus.Counter
	replaced prometheus.Counter
}

func newMeters(s *Server) *meters {
	m := &meters{
		answers: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_site_answers_total",
			Help: "Measurements answered, without repeated ones."}),
		replaced: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_site_policies_total",
			Help: "Policies put in force, the first one included."}),
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "discreet_site_open_trainings",
		Help: "Trainings that called since the site began, and have not ended."}, func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(len(s.open))
	})
	until := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "discreet_site_policy_end_seconds",
		Help: "When the policy ends, as Unix time."}, func() float64 { return float64(s.policy().End.Unix()) })
	own := []prometheus.Collector{admission.Ends{Of: s.Self}, m.answers, m.replaced, open, until}
	if s.votes != nil {
		own = append(own, s.votes.Metrics()...)
	}
	m.Metrics = admission.NewMetrics(own...)
	if s.votes != nil {
		s.votes.Calls = m.Metrics
	}
	return m
}
