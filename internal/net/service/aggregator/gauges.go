// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

// gauges report the progress of open tasks, labelled by the first digits of their names.
type gauges struct{ s *Server }

func newGauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("discreet_task_"+name, help, []string{"task"}, nil)
}

var (
	gaugeEpsilon  = newGauge("epsilon", "The ε of each owner's one report.")
	gaugeSlot     = newGauge("slot", "The open slot, from 1 on.")
	gaugeSlots    = newGauge("slots", "How many slots the task has.")
	gaugeReports  = newGauge("reports", "Reports of the open slot, as this process knows them.")
	gaugeNeeded   = newGauge("reports_needed", "Reports that a slot must have.")
	gaugeDeadline = newGauge("deadline_seconds", "When the open slot closes at the latest, as Unix time.")
	gaugeAccuracy = newGauge("accuracy",
		"Estimated accuracy of the first round's classifier, levels of the label counted alike.")
	gaugeNoise = newGauge("accuracy_noise", "Standard deviation of that estimate.")
	gaugeReach = newGauge("reach", "The most that one dishonest owner can have moved an estimated share of all records.")
	allGauges  = []*prometheus.Desc{gaugeEpsilon, gaugeSlot, gaugeSlots, gaugeReports, gaugeNeeded, gaugeDeadline,
		gaugeAccuracy, gaugeNoise, gaugeReach}
)

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range allGauges {
		to <- d
	}
}

// Collect implements prometheus.Collector. It omits finished tasks, whose number is unbounded.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	for _, l := range g.s.allTasks() {
		l.mu.RLock()
		if l.state == store.Open {
			l.measureTask(func(d *prometheus.Desc, v float64) {
				to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, l.String())
			})
		}
		l.mu.RUnlock()
	}
}

// measureTask reports the gauges' values. l.mu must be held.
func (l *live) measureTask(tell func(*prometheus.Desc, float64)) {
	tell(gaugeEpsilon, l.ann.Task.Epsilon.Float())
	tell(gaugeSlot, float64(l.slot+1))
	tell(gaugeSlots, float64(l.ann.Task.Slots()))
	tell(gaugeReports, float64(l.stored))
	tell(gaugeNeeded, float64(l.ann.Minimum))
	tell(gaugeDeadline, float64(l.deadline.Unix()))
	if e := l.accuracyEstimate(); e != nil {
		tell(gaugeAccuracy, 1-e.Err)
		tell(gaugeNoise, e.ErrNoise)
	}
	if l.Reach > 0 {
		tell(gaugeReach, l.Reach)
	}
}
