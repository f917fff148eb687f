// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// TestForeignTextsDoNotReachTheTerminal: a text of another program or person neither rewrites the
// terminal nor makes a line of its own, wherever it is said.
func TestForeignTextsDoNotReachTheTerminal(t *testing.T) {
	const foreign = "refused\x1b[2J\r\nerror: wrote m.json\u202e\u009b2J\x9b"
	const shown = `refused\u001b[2J\r\nerror: wrote m.json\u202e\u009b2J\x9b`
	for what, body := range map[string]func(a *cli.App) error{
		"a message": func(a *cli.App) error { a.Say("site says %s, %v", foreign, errors.New(foreign)); return nil },
		"an error":  func(*cli.App) error { return fmt.Errorf("site: %s", foreign) },
		"errors":    func(*cli.App) error { return errors.Join(errors.New(foreign), errors.New(foreign)) },
		"an error's place": func(*cli.App) error {
			return fmt.Errorf("%s: %w", foreign, errors.Join(errors.New("a"), errors.New("b")))
		},
		"a refused value": func(*cli.App) error { return cli.Refuse("do", "out", "must be another", foreign) },
		"a hint":          func(*cli.App) error { return &dp.ParamError{Op: "do", Param: "x", Want: "must be", Hint: foreign} },
		"a command":       func(*cli.App) error { return &cli.UsageError{Err: errors.New(foreign)} },
		"what is spent": func(*cli.App) error {
			return &ledger.Spent{Ledger: foreign, Dataset: foreign, Job: foreign, Err: errors.New(foreign)}
		},
		"a text of a library": func(a *cli.App) error {
			_, err := fmt.Fprint(a.Stdout, strings.ReplaceAll(foreign, "\n", `\n`))
			return err
		},
	} {
		_, said := run(t.Context(), body)
		if !strings.Contains(said, shown) {
			t.Errorf("%s: says %q, want %q in it", what, said, shown)
		}
		for line := range strings.Lines(said) {
			if strings.HasPrefix(line, "error: wrote") || strings.ContainsAny(line, "\x1b\r\u202e\u009b") {
				t.Errorf("%s: the line %q", what, line)
			}
		}
	}
}
