// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// onLedgers runs f with a file and with a PostgreSQL database that are no
// ledgers yet.
func onLedgers(t *testing.T, f func(t *testing.T, address string)) {
	t.Run("file", func(t *testing.T) { f(t, filepath.Join(t.TempDir(), "l.db")) })
	t.Run("postgres", func(t *testing.T) {
		s, why, err := ledgertest.Postgres()
		if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			t.Skip(why)
		}
		defer s.Stop()
		f(t, s.Database(t))
	})
}

// budgetCommand runs the command and returns its output.
func budgetCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("discreet", append([]string{"budget"}, args...)...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("budget %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func trainCommand(dir, address, id, price, model string) *exec.Cmd {
	cmd := exec.Command("discreet", "train", "--data", "census.csv", "--schema", "census.yaml", "--learner", "brc",
		"--epsilon", price, "--model", model, "--ledger", address, "--dataset", "d", "--job", id)
	cmd.Dir = dir
	return cmd
}

// Twenty processes ask for a tenth each.
func TestExactlyTenProcessesTrain(t *testing.T) {
	onLedgers(t, func(t *testing.T, address string) {
		dir := sampleFolder(t, 200)
		budgetCommand(t, "init", "--ledger", address, "--dataset", "d", "--epsilon", "1.0")
		var wg sync.WaitGroup
		codes := make([]int, 20)
		for i := range codes {
			wg.Add(1)
			go func() {
				defer wg.Done()
				cmd := trainCommand(dir, address, fmt.Sprint(i), "0.1", fmt.Sprintf("m%d.json", i))
				if err := cmd.Run(); cmd.ProcessState == nil {
					t.Error(err)
					return
				}
				codes[i] = cmd.ProcessState.ExitCode()
			}()
		}
		wg.Wait()
		count := map[int]int{}
		for _, code := range codes {
			count[code]++
		}
		models, _ := filepath.Glob(filepath.Join(dir, "m*.json"))
		if count[cli.ExitOK] != 10 || count[cli.ExitBudget] != 10 || len(models) != 10 {
			t.Errorf("exit codes %v, %d models; want 10 times 0, 10 times 3, 10 models", codes, len(models))
		}
		budgetCommand(t, "verify", "--ledger", address)
	})
}

// Trainings are killed at random moments, DISCREET_KILLS of them if that is given. Every model that is out is paid for, recovery finishes what was stored,
// and the same job never gives another model.
func TestKilledTrainingsArePaidFor(t *testing.T) {
	kills := size.Of(3, 15)
	if n, err := strconv.Atoi(os.Getenv("DISCREET_KILLS")); err == nil && n > 0 {
		kills = n
	}
	onLedgers(t, func(t *testing.T, address string) {
		dir := sampleFolder(t, 200)
		budgetCommand(t, "init", "--ledger", address, "--dataset", "d", "--epsilon", "1000")
		r := rand.New(rand.NewPCG(3, 4))
		for i := range kills {
			id, model, copied := fmt.Sprintf("job%d", i), fmt.Sprintf("m%d.json", i), fmt.Sprintf("again%d.json", i)
			cmd := trainCommand(dir, address, id, "0.01", model)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(r.IntN(120)) * time.Millisecond)
			cmd.Process.Kill()
			cmd.Wait()
			early, earlyErr := os.ReadFile(filepath.Join(dir, model))
			budgetCommand(t, "recover", "--ledger", address)
			late, lateErr := os.ReadFile(filepath.Join(dir, model))
			if earlyErr == nil && string(early) != string(late) {
				t.Fatalf("%s: recovery changed the model", id)
			}
			if lateErr == nil {
				if out, err := trainCommand(dir, address, id, "0.01", copied).CombinedOutput(); err != nil {
					t.Fatalf("%s: the same job: %v\n%s", id, err, out)
				}
				if again, err := os.ReadFile(filepath.Join(dir, copied)); err != nil || string(again) != string(late) {
					t.Fatalf("%s: the same job gave another model (%v)", id, err)
				}
			}
		}
		budgetCommand(t, "verify", "--ledger", address)
		var b struct{ Spent, Reserved float64 }
		if err := json.Unmarshal([]byte(budgetCommand(t, "show", "--ledger", address, "--dataset", "d", "--json")),
			&b); err != nil {
			t.Fatal(err)
		}
		models, _ := filepath.Glob(filepath.Join(dir, "m*.json"))
		if b.Spent*100+0.5 < float64(len(models)) || b.Reserved != 0 {
			t.Errorf("%d models, spent %g, reserved %g", len(models), b.Spent, b.Reserved)
		}
		t.Logf("%d kills: %d models out, %g spent", kills, len(models), b.Spent)
	})
}
