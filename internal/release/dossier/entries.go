// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/release/card"
)

// readEntries copies three entries from a ledger: the total of the data set, the price of the training
// when it began, and the model's bytes. The entry that reserved the price is left out: it names the
// operator's folders and machine.
func readEntries(ctx context.Context, l *ledger.Ledger, at *card.Entry) ([]byte, error) {
	var declared, began, committed ledger.Entry
	err := l.History(ctx, at.Dataset, func(e ledger.Entry) error {
		switch {
		case e.Kind == ledger.Declared:
			declared = e
		case e.Kind == ledger.Began && e.Job == at.Job && e.Seq < at.Seq:
			began = e
		case e.Seq == at.Seq:
			committed = e
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return writeEntries([]ledger.Entry{declared, began, committed})
}

// writeEntries writes entries in the format of budget history --json.
func writeEntries(entries []ledger.Entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// checkEntries checks the entries of a release against its model and its card.
func checkEntries(text []byte, m *model.Model, file []byte, c *card.Card) error {
	refuse := func(format string, args ...any) error { return notFitting("the ledger's entries "+format, args...) }
	var entries []ledger.Entry
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	for range 3 {
		var e ledger.Entry
		if d.Decode(&e) != nil {
			return refuse("must be three, as discreet release writes them")
		}
		entries = append(entries, e)
	}
	if again, err := writeEntries(entries); err != nil || !bytes.Equal(again, text) {
		return refuse("must be three, as discreet release writes them")
	}
	declared, began, committed := &entries[0], &entries[1], &entries[2]
	for i := range entries {
		switch e := &entries[i]; {
		case !e.HoldsTogether():
			return refuse("must be what their hashes say: entry %d is not", e.Seq)
		case e.Kind != []ledger.Kind{ledger.Declared, ledger.Began, ledger.Committed}[i]:
			return refuse("must be those of a total, of a training that began and of its model")
		case e.Dataset != declared.Dataset:
			return refuse("must be about one data set")
		case i > 0 && e.Seq <= entries[i-1].Seq:
			return refuse("must be in their order")
		}
	}
	var result struct {
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	p := &m.Privacy
	switch err := json.Unmarshal(committed.Detail, &result); {
	case began.Job != committed.Job || began.Request != committed.Request || began.Part != committed.Part:
		return refuse("must be about one training")
	case err != nil || result.SHA256 != c.Checksum || result.Bytes != int64(len(file)):
		return refuse("must hold this model: entry %d holds another", committed.Seq)
	case began.Epsilon != p.Epsilon || began.Delta != p.Delta:
		return refuse("must charge what the model says it cost, epsilon = %s and delta = %s: entry %d charges epsilon = %s "+
			"and delta = %s", p.Epsilon, p.Delta, began.Seq, began.Epsilon, began.Delta)
	case began.Epsilon > declared.Epsilon || began.Delta > declared.Delta:
		return refuse("must charge at most the total of entry %d", declared.Seq)
	}
	return checkCardEntry(declared, committed, dp.Price{Epsilon: p.Epsilon, Delta: p.Delta}, c.Entry, refuse)
}

// checkCardEntry checks the card's facts about the ledger against the ledger's entries. The amounts
// spent and left and the head hash also depend on entries outside the release, so it can only check
// that they are possible.
func checkCardEntry(declared, committed *ledger.Entry, price dp.Price, said *card.Entry,
	refuse func(string, ...any) error) error {
	var d struct {
		Note string `json:"note"`
	}
	switch err := json.Unmarshal(declared.Detail, &d); {
	case err != nil:
		return refuse("must have details as a ledger writes them: entry %d has not", declared.Seq)
	case said == nil:
		return refuse("must be named by the card")
	case said.Dataset != committed.Dataset || said.Job != committed.Job || said.Seq != committed.Seq ||
		said.At != committed.At || said.Hash != committed.Hash:
		return refuse("must be those that the card names")
	case said.Total != card.PriceWords(declared.Epsilon, declared.Delta) || said.SetAt != declared.At || said.Note != d.Note:
		return refuse("must declare the total that the card names")
	case !hash.MatchString(said.HeadHash), said.HeadSeq < committed.Seq,
		said.HeadSeq == committed.Seq && said.HeadHash != committed.Hash:
		return refuse("must not come after the head that the card names")
	}
	spent, badSpent := card.ReadPriceWords(said.Spent)
	left, badLeft := card.ReadPriceWords(said.Left)
	if badSpent != nil || badLeft != nil || spent.Epsilon < price.Epsilon || spent.Delta < price.Delta ||
		spent.Epsilon+left.Epsilon > declared.Epsilon || spent.Delta+left.Delta > declared.Delta {
		return refuse("must allow what the card says is spent and left")
	}
	return nil
}

// hash matches a hash in an entry.
var hash = regexp.MustCompile(`^[0-9a-f]{64}$`)
