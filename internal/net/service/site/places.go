// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

const (
	maxOpen = 32 // trainings that have been joined and have not ended, over all coordinators
	// A training ends if nothing new happens to it for this long.
	idleJoined = time.Hour
	idleBegun  = 7 * 24 * time.Hour // a holiday of the coordinator's machine
)

func (s *Server) trainings() string { return trainingsIn(s.State) }

func trainingsIn(state string) string { return filepath.Join(state, "trainings") }

func (s *Server) folderOf(id sites.Digest) folder { return folderIn(s.State, id) }

func folderIn(state string, id sites.Digest) folder {
	return folder(filepath.Join(trainingsIn(state), string(id)))
}

// Open is a training in the state of a site that has not ended.
type Open struct {
	ID          sites.Digest
	Coordinator string
	Begun       bool      // its price is spent
	Since       time.Time // when something last happened to it
}

// ListOpen returns the open trainings in the state of a site, which may be running.
func ListOpen(state string) (open []Open, err error) {
	all, err := os.ReadDir(trainingsIn(state))
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		f := folderIn(state, sites.Digest(e.Name()))
		text, err := f.read(trainingFile)
		if err != nil {
			return nil, err
		}
		info, gone := e.Info()
		if text == nil || gone != nil || f.has(endedFile) {
			continue
		}
		var about sites.Training
		if err := sites.Decode(text, &about); err != nil {
			return nil, err
		}
		open = append(open, Open{sites.Digest(e.Name()), about.Coordinator, f.has(begunFile), info.ModTime()})
	}
	return open, nil
}

// EndOpen ends an open training in the state of a site, which may be running: its keys and answers are
// erased. Its price stays spent.
func EndOpen(state string, id sites.Digest) error {
	open, err := ListOpen(state)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(open, func(o Open) bool { return o.ID == id }) {
		return dp.Refuse("site end", "training", "must be an open one, as site end lists them", fmt.Sprintf("%.64q", id))
	}
	return folderIn(state, id).erase()
}

// load returns the open training with this digest, or nil. Another process may have ended it.
func (s *Server) load(id sites.Digest) (*training, error) {
	f := s.folderOf(id)
	if f.has(endedFile) || !f.has(trainingFile) {
		delete(s.open, id)
		return nil, nil
	}
	if t := s.open[id]; t != nil {
		return t, nil
	}
	t := &training{id: id, folder: f, next: 1}
	text, err := f.read(trainingFile)
	if err == nil {
		err = sites.Decode(text, &t.about)
	}
	if err != nil {
		return nil, err
	}
	s.open[id] = t
	return t, nil
}

// makeRoom ends what idles, and refuses more open trainings of a coordinator than its share of the
// places.
func (s *Server) makeRoom(ctx context.Context, about *sites.Training, id sites.Digest, bytes int64) error {
	if err := diskroom.Check(s.State, 2*bytes); err != nil { // its text, and its set
		return err
	}
	if err := s.endIdle(ctx); err != nil {
		return err
	}
	all, err := os.ReadDir(s.trainings())
	if err != nil {
		return err
	}
	own := 0
	for _, e := range all {
		t, err := s.load(sites.Digest(e.Name()))
		if err != nil {
			return err
		}
		if t != nil && t.id != id && t.about.Coordinator == about.Coordinator {
			own++
		}
	}
	if share := max(1, maxOpen/len(s.policy().Coordinators)); own >= share {
		return problem.New(problem.Overloaded, "coordinator %s has %d open trainings, which is its share", about.Coordinator, own)
	}
	return nil
}

// endIdle ends trainings to which nothing new has happened for long, and erases what is left of those
// that ended while a process was killed.
func (s *Server) endIdle(ctx context.Context) error {
	all, err := os.ReadDir(s.trainings())
	if err != nil {
		return err
	}
	for _, e := range all {
		info, gone := e.Info()
		if gone != nil {
			continue
		}
		f, idle := s.folderOf(sites.Digest(e.Name())), idleJoined
		if os.Remove(string(f)) == nil { // it was empty: its process was killed as it made or removed the folder
			continue
		}
		if f.has(setFile) {
			idle = idleBegun
		}
		if f.has(endedFile) || s.Now().Sub(info.ModTime()) > idle {
			t := s.open[sites.Digest(e.Name())]
			if t == nil {
				t = &training{id: sites.Digest(e.Name()), folder: f}
			}
			if !t.mu.TryLock() { // a call is at work
				continue
			}
			err = errors.Join(err, s.close(ctx, t, "nothing happened to it"))
			t.mu.Unlock()
		}
	}
	return err
}

// close erases a training's keys and answers, and forgets it. Its price stays spent. The caller holds
// both locks.
func (s *Server) close(ctx context.Context, t *training, why string) error {
	if err := t.folder.erase(); err != nil {
		return err
	}
	delete(s.open, t.id)
	s.Log.Info("a training ended", "job", t.id, "why", why)
	account := t.account
	t.responder, t.masks, t.account = nil, nil, nil
	if account == nil {
		return nil
	}
	err := account.Abandon(ctx, why)
	if errors.As(err, new(*ledger.Conflict)) { // discreet budget recover closed it
		return nil
	}
	return err
}

// checkSpelling refuses a text that is not in the spelling of this program, so that what is kept of it
// is as long as its fields.
func checkSpelling(message any, text []byte) error {
	own, err := json.Marshal(message)
	if err == nil && !bytes.Equal(own, text) {
		err = problem.New(problem.Malformed, "a message in another spelling")
	}
	return err
}
