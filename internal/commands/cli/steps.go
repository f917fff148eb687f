// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// stepWords name steps by flags and commands.
var stepWords = [dp.StepKinds]string{
	dp.GiveParam:       "give --{name}",
	dp.LeaveOut:        "leave out --{name}",
	dp.ChooseEpsilon:   "for example --epsilon {why}; discreet plan shows what it buys",
	dp.ReplaceFile:     "only --force replaces it",
	dp.DraftSchema:     "discreet schema init writes a template to fill in",
	dp.NameColumns:     "give --no-header --columns N for a file without a header, or if columns are named by numbers, and write their names yourself",
	dp.CreateLedger:    "discreet budget init creates it",
	dp.DeclareDataset:  "discreet budget init declares it",
	dp.TakeResult:      "the ledger keeps the result: the same command with --job {name} writes it and costs nothing",
	dp.AskAgain:        "the same command with --job {name} writes the result and costs nothing if the ledger could keep it, and says so if not",
	dp.StartAnew:       "job {name} ended without a result and is never drawn again: with --job {name} the same command is refused and costs nothing; under another job it pays again",
	dp.RefundJob:       "discreet budget recover refunds it",
	dp.CloseJob:        "discreet budget recover closes it",
	dp.AppointOwner:    "discreet budget appoint appoints the one that signed the policy",
	dp.AllotBudget:     "the data set's owner gives one with discreet budget allot",
	dp.SignTraining:    "give --key",
	dp.RequestTraining: "file the request first: the same command with --request PURPOSE",
	dp.DescribeRelease: "write --about NAME=TEXT, or NAME: TEXT in a file for --about-file, for each of {name}",
	dp.VerifyLedger:    "discreet budget verify --anchor {name}",
	dp.CheckTable:      "{name} counts what a training would repair",
	dp.SecureServer:    "give --tls-cert, --tls-key and --tokens, or --plain if a proxy in front handles both",
}

// StepWords returns the words for steps of a command. A step that names a flag which the command does not
// have is told in plain words.
func StepWords(c *cobra.Command) func(dp.Step) string {
	return func(s dp.Step) string {
		text := s.Fill(stepWords[s.Kind])
		for _, flag := range ownFlags(text) {
			if c.Flags().Lookup(flag) == nil {
				return s.String()
			}
		}
		return text
	}
}

// ownFlags returns the flags that words name without another command before them.
func ownFlags(words string) (flags []string) {
	words, _, _ = strings.Cut(words, "discreet ")
	for _, word := range strings.Fields(words) {
		if flag, ok := strings.CutPrefix(strings.TrimRight(word, ",;:."), "--"); ok {
			flag, _, _ = strings.Cut(flag, "=")
			flags = append(flags, flag)
		}
	}
	return flags
}
