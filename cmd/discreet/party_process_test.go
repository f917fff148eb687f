// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/ballot"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// parties is ten parties and what they vote with, in one folder.
type parties struct {
	*trial
	names     []string
	keys      []string // public halves
	addresses []string
	voters    [][]string // flags
	running   []*exec.Cmd
}

// blackBox is a classifier that is not ours: it waits while there is a file
// block.NAME, and says so in begun.NAME.
func blackBox(name string) []string {
	return []string{"--command",
		fmt.Sprintf(`if [ -e block.%[1]s ]; then touch begun.%[1]s; `+
			`while [ -e block.%[1]s ]; do sleep 0.02; done; fi; awk -F, `+
			`'NR==1{print "label"} NR>1{print (NR%%3 ? "no" : "yes")}'`, name)}
}

func newParties(t *testing.T) *parties {
	t.Helper()
	p := &parties{trial: newTrial(t, 300)}
	t.Chdir(p.dir)
	if err := copyFile("census.csv", "aux.csv"); err != nil {
		t.Fatal(err)
	}
	for i, learner := range [][]string{{"logistic"}, {"erm", "--epsilon", "5"}, {"brc", "--epsilon", "5"}} {
		runDiscreet(t, append([]string{"site", "fit", "--data", "census.csv", "--schema", "census.yaml", "--model",
			fmt.Sprintf("m%d.json", i), "--learner"}, learner...)...)
	}
	for i := range 10 {
		name := fmt.Sprintf("p%d", i)
		p.names = append(p.names, name)
		p.keys = append(p.keys, strings.TrimSpace(runDiscreet(t, "keygen", "--out", name+".pem")))
		runDiscreet(t, "certs", "trial", "--dir", "certs", "party/"+name)
		p.addresses = append(p.addresses, freeAddress(t))
		voter := []string{"--model", fmt.Sprintf("m%d.json", i%3)}
		if i >= 7 {
			voter = blackBox(name)
		}
		p.voters = append(p.voters, voter)
		if err := os.WriteFile("own.txt", fmt.Appendf(nil, "https://%s %s %s\n", p.addresses[i], p.keys[i], name), 0o600); err != nil {
			t.Fatal(err)
		}
		runDiscreet(t, strings.Fields("site init --site "+name+" --sites own.txt --aux aux.csv --aux-schema census.yaml --coordinator uni "+
			"--epsilon 4 --lifetime-epsilon 4 --until 2999-12-31 --out "+name+".yaml")...)
		runDiscreet(t, "site", "sign", "--policy", name+".yaml", "--key", name+".pem", "--out", name+".signed.yaml")
		p.running = append(p.running, p.party(i))
	}
	runDiscreet(t, "certs", "trial", "--dir", "certs", "combiner/uni")
	var b strings.Builder
	for i := range p.names {
		fmt.Fprintf(&b, "https://%s %s %s\n", p.addresses[i], p.keys[i], p.names[i])
	}
	if err := os.WriteFile("peers.txt", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range p.running {
			c.Process.Kill()
			c.Wait()
		}
	})
	return p
}

// party starts the process of one.
func (p *parties) party(i int) *exec.Cmd {
	name := p.names[i]
	return p.start(name+".log", "party/"+name, append([]string{"site", "serve", "--listen", p.addresses[i], "--state", name, "--policy",
		name + ".signed.yaml", "--officer", name + ".pem.pub", "--key", name + ".pem", "--aux-schema", "census.yaml", "--ledger",
		name + ".db"}, p.voters[i]...)...)
}

// until waits for a file.
func (p *parties) until(name string) {
	p.t.Helper()
	if err := waitFor(p.t.Context(), "for "+name, func() bool {
		_, err := os.Stat(name)
		return !errors.Is(err, fs.ErrNotExist)
	}); err != nil {
		p.t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// TestTenParties is ten parties as ten processes over mutual TLS, three of them
// black boxes. All three are killed with SIGKILL while they vote, and one comes
// back. The combination is over ten, of which two count as constant votes, and it
// is the very one that the same votes make as files.
func TestTenParties(t *testing.T) {
	size.OnlyLong(t, "ten processes; package party trains over TLS within one")
	p := newParties(t)
	for _, name := range p.names[7:] {
		if err := os.WriteFile("block."+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var talk bytes.Buffer
	c := p.command("combiner/uni", "site", "vote", "--sites", "peers.txt", "--wait", "1h", "--votes", "kept", "--aux", "aux.csv",
		"--schema", "census.yaml",
		"--parties", "10", "--epsilon", "4", "--job", "ten", "--model", "global.json")
	c.Stderr = &talk
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 7; i < 10; i++ {
		p.until("begun." + p.names[i])
		p.running[i].Process.Kill()
		p.running[i].Wait()
		if err := os.Remove("block." + p.names[i]); err != nil {
			t.Fatal(err)
		}
	}
	p.running[7] = p.party(7)
	for _, name := range p.names[:8] {
		p.until(filepath.Join("kept", name))
	}
	if err := advanceClock(p.clock, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &talk)
	}
	for _, want := range []string{`absent: party "p8": did not answer in time`,
		`absent: party "p9": did not answer in time`, "8 of 10 parties voted; each that did not counts as a constant vote"} {
		if !strings.Contains(talk.String(), want) {
			t.Errorf("combine does not say %q:\n%s", want, &talk)
		}
	}
	m, err := model.Load("global.json")
	if err != nil {
		t.Fatal(err)
	}
	if want := "Whatever one of the 10 parties holds"; !strings.Contains(m.Privacy.Statement, want) ||
		m.Privacy.Epsilon != 4*dp.Nano {
		t.Errorf("the model says %q at epsilon %s, want %q at 4", m.Privacy.Statement, m.Privacy.Epsilon, want)
	}
	// The same votes as files.
	if err := os.Mkdir("filed", 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range p.names[:8] {
		runDiscreet(t, append([]string{"site", "cast", "--schema", "census.yaml", "--aux", "aux.csv", "--key", name + ".pem",
			"--party", name, "--out", filepath.Join("filed", name)}, p.voters[i]...)...)
	}
	if a, b := p.replayed("kept"), p.replayed("filed"); !bytes.Equal(a, b) {
		t.Error("votes that were asked for make another model than the same votes as files")
	}
	// Who was killed while it voted has paid for one query, and voted on it once.
	log, err := os.ReadFile("p7.log")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(log, []byte(`"msg":"voted"`)); n != 1 {
		t.Errorf("the party that came back has voted %d times, want once:\n%s", n, log)
	}
}

// replayed combines a folder of eight votes files of ten parties, with the noise
// of a tape.
func (p *parties) replayed(folder string) []byte {
	t := p.t
	t.Helper()
	s, err := schema.Load("census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{&commands.App{App: &cli.App{Stderr: new(bytes.Buffer)}}}
	read := func(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error) {
		return dataset.Read(ctx, s, dataset.Options{Labels: dataset.LabelsIgnored}, paths...)
	}
	_, aux, err := ballot.ReadAuxiliary(context.Background(), read, s, []string{"aux.csv"})
	if err != nil {
		t.Fatal(err)
	}
	params := multiparty.Defaults()
	params.Epsilon, params.Parties = 4*dp.Nano, 10
	pl, err := params.Plan(s, aux.Rows)
	if err != nil {
		t.Fatal(err)
	}
	votes, err := (&combine.Combination{Params: params, Say: a.Say, Progress: a.ShowRuns}).Tally(pl, aux, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	if votes.Present() != 8 {
		t.Errorf("%s holds the votes of %d parties, want 8", folder, votes.Present())
	}
	m, err := pl.Combine(context.Background(), aux, votes, guard.Uncounted{},
		mech.NewExit(replay.Seeded(1, "ten parties")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
