// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// card is a task as shown on the page, with public facts only.
type card struct {
	ID, State, Classifier, Mechanism, Epsilon string
	Slot, Slots, Stored, Needed               int
	Kind                                      string // the content of the open slot's question
	Percent                                   int    // of the minimum number of reports, at most 100
	Left                                      time.Duration
	Rounds                                    []cardRound
	Accuracy, AccuracyBand                    string // "" before the first round is over
	Reach                                     string // "" before the first slot is closed
	Who                                       string // who may report
	What                                      string // what each owner sends
	// In mode aggregate: whether owners send shares, whether the owners of the open slot are known,
	// and for how many of them a quorum of helpers has shares.
	Secret, Sharing bool
	Shares          int
}

type cardRound struct {
	Round          int
	Reports        int64
	Error, Low, Up string // weighted error in percent, and its 95 % band
	Vote           string
}

// Page serves the progress of tasks, metrics and health to operators. It is served without TLS, at an
// address that only they can reach, and changes nothing.
func (s *Server) Page() http.Handler {
	mux := s.metrics.Watch(s.clock.checkReady)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.Header().Set("Cache-Control", "no-store")
		var cards []card
		for _, l := range s.allTasks() {
			cards = append(cards, l.makeCard(s.Now()))
		}
		if err := pageTemplate.Execute(w, struct {
			At    string
			Cards []card
		}{s.Now().UTC().Format(time.RFC3339), cards}); err != nil {
			s.Log.Warn("the page broke off", "error", err)
		}
	})
	return mux
}

func (l *live) makeCard(now time.Time) card {
	l.mu.RLock()
	defer l.mu.RUnlock()
	t := l.ann.Task
	c := card{
		ID: l.String(), Classifier: string(t.Classifier), Mechanism: t.Mechanism, Epsilon: t.Epsilon.String(),
		Slot: l.slot + 1, Slots: t.Slots(), Stored: l.stored, Needed: l.ann.Minimum,
		Percent: min(100, 100*l.stored/l.ann.Minimum), Left: max(0, l.deadline.Sub(now)).Round(time.Second),
		Kind: "what makes a classifier",
		Who:  "anyone with a key", What: "one report",
	}
	if c.Mechanism == "" {
		c.Mechanism = "oue or grr"
	}
	if l.isSecret() {
		c.What, c.Mechanism = "shares of one sum", fmt.Sprintf("noise of all owners together, %d helpers", len(l.ann.Helpers))
		c.Secret, c.Sharing, c.Shares = true, l.secret != nil, l.shares
	}
	if c.Sharing {
		c.Percent, c.Left = min(100, 100*c.Shares/l.asked.Crowd.AtLeast),
			max(0, l.sharesUntil(l.deadline).Sub(now)).Round(time.Second)
	}
	if l.roster != nil {
		c.Who = fmt.Sprintf("%d owners, listed as %x…", l.roster.Len(), l.ann.Roster[:6])
	}
	if (&wire.Round{Slot: l.slot}).IsError() {
		c.Kind = "how well it does"
	}
	switch l.state {
	case store.Open:
		c.State = "open"
	case store.Done:
		c.State = "done"
	default:
		c.State = "ended without a model"
	}
	for _, o := range l.Outcomes {
		r := cardRound{Round: o.Round, Reports: o.Tables + o.Errors, Vote: "dropped"}
		r.Error, r.Low, r.Up = formatPercent(o.Err), formatPercent(o.Err-1.96*o.ErrNoise),
			formatPercent(o.Err+1.96*o.ErrNoise)
		if o.Vote > 0 {
			r.Vote = formatNumber(o.Vote)
		}
		c.Rounds = append(c.Rounds, r)
	}
	if e := l.accuracyEstimate(); e != nil {
		c.Accuracy = formatPercent(1 - e.Err)
		c.AccuracyBand = formatPercent(1-e.Err-1.96*e.ErrNoise) + "–" + formatPercent(1-e.Err+1.96*e.ErrNoise)
	}
	if l.Reach > 0 {
		c.Reach = formatPercent(l.Reach) + " %"
	}
	return c
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// formatPercent formats a number in [0, 1] in percent.
func formatPercent(x float64) string { return formatNumber(100 * min(1, max(0, x))) }
