// SPDX-License-Identifier: Apache-2.0

package dossier

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/release"
)

// Words states which parts of a release are proved by its signature, which by the files themselves,
// and which not at all. keys is the name of the file of trusted keys; words
// names steps.
func (v *Verdict) Words(keys string, words func(dp.Step) string) string {
	var b strings.Builder
	section := func(title string, lines ...string) {
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, line := range lines {
			fmt.Fprintf(&b, "  - %s\n", line)
		}
	}
	fmt.Fprintf(&b, "VERIFIED: %d files and their attestation, none of them changed.\n", len(v.Files))
	section("Proved by the signature",
		fmt.Sprintf("The holder of key %s signed this release. The key is one of those in %s.", v.Signer, keys),
		fmt.Sprintf("The holder states that these files belong together, and that %s made the release at %s.",
			v.Program, v.Made), v.trainedWords())
	section("Proved by the files themselves", v.provedWords()...)
	section("Not proved here", append(v.unprovedWords(words),
		fmt.Sprintf("That the model was trained on the rows of %s, that these were the rows that the schema describes, and "+
			"that the noise was drawn as the statement says. Only the holder of the key states this.", v.Dataset),
		"That the owner of the rows counted every training on them. Only the owner's ledger can show this.",
		"Who holds the key. Compare its name with one that you received in another way.")...)
	return b.String()
}

func (v *Verdict) trainedWords() string {
	if v.Ledger == nil {
		return "When the model was trained is not stated: no ledger is part of this release."
	}
	return fmt.Sprintf("The holder states that the model was trained before %s, when the ledger took it in.", v.Trained)
}

func (v *Verdict) provedWords() (lines []string) {
	price := "epsilon = " + v.Epsilon.String()
	if v.Delta != "0" {
		price += ", delta = " + v.Delta.String()
	}
	if v.Epsilon == "0" {
		lines = append(lines, "NOT PRIVATE: the model itself states that it gives no guarantee. The card says so too.")
	} else {
		lines = append(lines, fmt.Sprintf("The model states %s for %s. The card and the statement state the same.", price,
			v.Protected))
	}
	lines = append(lines, "The card, the statement and the schema are about this model, of SHA-256 "+v.Checksum+".")
	if v.Approved {
		lines = append(lines, "The model names the schema's file that you gave, of SHA-256 "+v.Schema+".")
	}
	if p := v.Policy; p != nil {
		which := ""
		if v.Agreed {
			which = ", which is the one that you gave"
		}
		lines = append(lines, fmt.Sprintf("The release cites policy number %d, signed by key %s%s:", p.Number, p.Signer, which))
		for _, k := range p.Criteria {
			lines = append(lines, k.String())
		}
	}
	if v.Rewritten {
		lines = append(lines, "This program, given the model, writes the same card, statement and exports, to the last byte.")
	} else {
		lines = append(lines, "Another version of the program wrote the card, the statement and the exports. Their numbers were "+
			"compared. For their words and for the exports, only the holder of the key states this.")
	}
	if e := v.Ledger; e != nil {
		return append(lines, fmt.Sprintf("Entry %d of the ledger holds this model, and its training was charged %s out of %s. "+
			"The entries are what their hashes say.", e.Seq, price, e.Total))
	}
	return append(lines, "NOT COUNTED HERE: no ledger is part of this release, so nothing shows what other trainings on the "+
		"same rows cost.")
}

// unprovedWords lists claims in the release that are not proved.
func (v *Verdict) unprovedWords(words func(dp.Step) string) (lines []string) {
	if e := v.Ledger; e != nil {
		lines = append(lines, fmt.Sprintf("That the ledger still has this entry. Its holder shows it with %s",
			words(dp.Step{Kind: dp.VerifyLedger, Name: fmt.Sprintf("%d:%s", e.HeadSeq, e.HeadHash)})))
	}
	if v.Policy != nil || v.Ledger != nil && v.Ledger.Approval != nil {
		lines = append(lines, "Who approved the training, at which price and for which purpose, and that its table was checked. These entries of the "+
			"ledger are not in the release: only the holder of the key states this.")
	}
	if slices.Contains(v.Files, release.EvaluationName) {
		lines = append(lines, "The numbers of the evaluation, that a ledger counted it, and that its rows were held out of training. Only the "+
			"holder of the key states this.")
	}
	if slices.Contains(v.Files, release.AuditName) || slices.Contains(v.Files, release.AttackName) {
		lines = append(lines, "The numbers of the reports of audits and attacks, and that their runs were made. Only the holder of the key states this.")
	}
	return lines
}
