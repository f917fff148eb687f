// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"context"
	"log/slog"
	"os"
	"time"
)

const (
	// lookEvery is the interval at which Watch checks the files if there are no calls.
	lookEvery = time.Minute
	// remindEvery is the interval of log messages about a certificate that expires soon.
	remindEvery = time.Hour
	// lastPart is the divisor for the part of its life in which a certificate expires soon: a quarter.
	lastPart = 4
)

// Ends returns when the caller's own certificate expires, and the first of the revocation lists; zero
// if there is none.
func (i *Identity) Ends() (certificate, list time.Time) {
	return i.currentFiles().ends()
}

func (h *held) ends() (certificate, list time.Time) {
	for _, l := range h.lists {
		if list.IsZero() || l.ends.Before(list) {
			list = l.ends
		}
	}
	return h.cert.NotAfter, list
}

// Watch logs, until ctx ends, when the files have been read again or could not be read, and when the
// certificate or a list is about to expire. A signal from again makes it read the files at once, even
// if they seem unchanged.
func (i *Identity) Watch(ctx context.Context, log *slog.Logger, again <-chan os.Signal) {
	w := watch{Identity: i, log: log, known: i.currentFiles()}
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		w.look(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-again:
			if w.Reload() == nil { // told, also if nothing has changed
				w.known = nil
			} else {
				w.fault = ""
			}
		}
	}
}

// watch is the last state that was logged.
type watch struct {
	*Identity
	log      *slog.Logger
	known    *held
	fault    string
	reminded time.Time
}

func (w *watch) look(now time.Time) {
	h := w.currentFiles()
	w.mu.Lock()
	fault := w.Identity.fault
	w.mu.Unlock()
	if fault != nil { // it may have been the moment between two files
		fault = w.Reload()
		h = w.currentFiles()
	}
	end, list := h.ends()
	if h != w.known {
		w.known, w.reminded = h, time.Time{}
		w.log.Info("certificates were read again", "certificate", w.Caller.String(), "ends", stamp(end), "authorities",
			len(h.authorities), "lists", len(h.lists))
	}
	if said := text(fault); said != w.fault {
		if w.fault = said; fault != nil {
			w.log.Error("certificates or lists could not be read: those stay as before, and sound lists are taken",
				"error", fault)
		}
	}
	if now.Sub(w.reminded) < remindEvery {
		return
	}
	if left := end.Sub(now); left < end.Sub(h.cert.NotBefore)/lastPart {
		w.reminded = now
		w.log.Warn("the certificate expires soon, and no peer can be reached after", "certificate", w.Caller.String(), "ends",
			stamp(end))
	}
	for _, l := range h.lists {
		if l.ends.Sub(now) < l.ends.Sub(l.begins)/lastPart {
			w.reminded = now
			w.log.Warn("the list of revoked certificates ends soon, and its authority's are refused after", "ends", stamp(list))
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
