// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

const (
	demoDelta     = "1e-6"
	demoTrusted   = 300    // people in secret sums, each of whom proves what three helpers get
	demoReporters = 10_000 // people with a report of their own, which is what one certificate may bring
)

// runSites trains one model over the rows of institutions, and the same on all rows and on those of each.
func (d *demo) runSites(ctx context.Context) error {
	names := d.names()
	addresses, err := freeAddresses(ctx, d.members)
	if err != nil {
		return err
	}
	if err := d.writePrivateSchema(); err != nil {
		return err
	}
	if err := d.dealMembers(ctx); err != nil {
		return err
	}
	for i, name := range names {
		if err := d.deal(ctx, name+".held-out.csv", func(unit int) bool { return unit%2 == 1 && unit/2%d.members == i }); err != nil {
			return err
		}
	}
	if err := d.certify(ctx, append([]string{"combiner/uni"}, prefixed("party/", names)...)...); err != nil {
		return err
	}
	if err := d.listMembers(ctx, addresses); err != nil {
		return err
	}
	if err := d.signPolicies(ctx, "--schema", schemaFile, "--delta", demoDelta, "--lifetime-delta", "3e-6", "--held-out", "later"); err != nil {
		return err
	}
	d.say("Each institution runs its site, which answers within the policy.")
	for i, name := range names {
		if err := d.start(ctx, name, addresses[i], "site", "serve", "--certs", "certs", "--as", "party/"+name, "--state", name,
			"--policy", name+".signed.yaml", "--officer", "officer.pub", "--key", name+".pem", "--schema", schemaFile,
			"--data", name+".csv", "--held-out", name+".held-out.csv", "--ledger", name+".db"); err != nil {
			return err
		}
	}
	d.say("The coordinator trains, and measures the model on rows that the sites held out.")
	ask := []string{"--certs", "certs", "--as", "combiner/uni", "--sites", membersFile, "--schema", schemaFile, "--epsilon",
		d.epsilon, "--honest", d.honest(), "--state", "run", "--model", "sites.json"}
	rows := strconv.Itoa(d.count(func(unit int) bool { return unit%2 == 0 }))
	if _, err := d.run(ctx, slices.Concat([]string{"site", "train"}, ask, []string{"--delta", demoDelta, "--declared-rows", rows})...); err != nil {
		return err
	}
	if _, err := d.runInto(ctx, "evaluation.txt", slices.Concat([]string{"site", "evaluate"}, ask)...); err != nil {
		return err
	}
	d.say("For comparison: the same learner at the same price on the rows of all in one place, and on each one's.")
	price := "epsilon = " + d.epsilon + ", delta = " + demoDelta + ", for each row"
	if err := d.trainAlike(ctx, "additive", "--epsilon", d.epsilon, "--delta", demoDelta); err != nil {
		return err
	}
	d.models = []demoModel{
		{"pooled", []string{"pooled.json"}, price + "; nobody has these rows in one place"},
		{fmt.Sprintf("%d sites", d.members), []string{"sites.json"}, price},
		{"alone", suffixed(names, ".json"), price + "; the mean of what each would have by itself"},
	}
	return nil
}

// signPolicies drafts and signs the policy of each institution; clauses are flags about what it allows. It checks the tables
// of those that train.
func (d *demo) signPolicies(ctx context.Context, clauses ...string) error {
	d.say("Each institution's officer drafts, reads and signs its policy. Here all have one officer.")
	if _, err := d.run(ctx, "keygen", "--out", "officer"); err != nil {
		return err
	}
	for _, name := range d.names() {
		commands := [][]string{
			slices.Concat([]string{"site", "init", "--site", name, "--sites", membersFile, "--coordinator", "uni", "--honest", d.honest(),
				"--epsilon", d.epsilon, "--lifetime-epsilon", d.lifetime(), "--until", "2099-12-31", "--out", name + ".yaml"}, clauses),
			{"site", "sign", "--policy", name + ".yaml", "--key", "officer", "--out", name + ".signed.yaml"},
		}
		if slices.Contains(clauses, "--schema") {
			commands = append(commands, []string{"site", "check", "--policy", name + ".signed.yaml", "--officer", "officer.pub", "--schema",
				schemaFile, "--data", name + ".csv", "--data", name + ".held-out.csv"})
		}
		for _, args := range commands {
			if _, err := d.run(ctx, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// runVotes combines the votes of institutions, with the noise added by the coordinator and by the institutions themselves.
func (d *demo) runVotes(ctx context.Context) error {
	names := d.names()
	addresses, err := freeAddresses(ctx, d.members)
	if err != nil {
		return err
	}
	if err := d.writeSchema(); err != nil {
		return err
	}
	if err := d.dealMembers(ctx); err != nil {
		return err
	}
	if err := d.deal(ctx, "aux.csv", func(unit int) bool { return unit%4 == 1 }); err != nil {
		return err
	}
	if err := d.certify(ctx, append([]string{"combiner/uni", "helper/ann", "helper/ben", "helper/cem"}, prefixed("party/", names)...)...); err != nil {
		return err
	}
	if err := d.listMembers(ctx, addresses); err != nil {
		return err
	}
	helpers, err := d.startHelpers(ctx)
	if err != nil {
		return err
	}
	d.say("Each institution trains a model of its own, which stays there, and serves its votes.")
	if err := d.trainAlike(ctx, "logistic"); err != nil {
		return err
	}
	if err := d.signPolicies(ctx, "--kind", "labels", "--helpers", helpers, "--aux", "aux.csv", "--aux-schema", schemaFile,
		"--lifetime-delta", "1e-12"); err != nil {
		return err
	}
	for i, name := range names {
		if err := d.start(ctx, name, addresses[i], "site", "serve", "--certs", "certs", "--as", "party/"+name, "--state", name,
			"--policy", name+".signed.yaml", "--officer", "officer.pub", "--key", name+".pem", "--aux-schema", schemaFile, "--model",
			name+".json", "--ledger", name+".db"); err != nil {
			return err
		}
	}
	d.say("The coordinator asks for votes: in the clear, and as one secret sum.")
	ask := []string{"site", "vote", "--sites", membersFile, "--certs", "certs", "--as", "combiner/uni", "--wait", "1m", "--aux", "aux.csv", "--schema",
		schemaFile, "--parties", strconv.Itoa(d.members), "--epsilon", d.epsilon}
	if _, err := d.run(ctx, append(ask, "--model", "votes.json")...); err != nil {
		return err
	}
	if _, err := d.run(ctx, append(ask, "--model", "secret.json", "--secure-sum", "--honest", d.honest(), "--minimum", strconv.Itoa(d.members),
		"--helpers", helpers)...); err != nil {
		return err
	}
	price := "epsilon = " + d.epsilon + " for each institution as a whole"
	d.models = []demoModel{
		{"pooled", []string{"pooled.json"}, "NOT PRIVATE; nobody has these rows in one place"},
		{"votes", []string{"votes.json"}, price + "; the coordinator sees votes"},
		{"secret sum of votes", []string{"secret.json"}, price + "; the coordinator sees the sum"},
		{"alone", suffixed(names, ".json"), "NOT PRIVATE; the mean of the models that stay where they are"},
	}
	return nil
}

// runPeople collects a report of each of many people, perturbed at home, and shares of fewer in secret sums.
func (d *demo) runPeople(ctx context.Context) error {
	addresses, err := freeAddresses(ctx, 1)
	if err != nil {
		return err
	}
	if err := d.writeSchema(); err != nil {
		return err
	}
	if err := d.deal(ctx, "pooled.csv", func(unit int) bool { return unit%2 == 0 }); err != nil {
		return err
	}
	rows := d.count(func(unit int) bool { return unit%2 == 0 })
	if err := d.certify(ctx, "aggregator/main", "operator/me", "owner/me", "helper/ann", "helper/ben", "helper/cem"); err != nil {
		return err
	}
	helpers, err := d.startHelpers(ctx)
	if err != nil {
		return err
	}
	d.say("The aggregator serves tasks, and sees no row.")
	if err := d.start(ctx, "aggregator", addresses[0], "aggregator", "--certs", "certs", "--as", "aggregator/main", "--state", "state.db",
		"--max-epsilon", d.epsilon); err != nil {
		return err
	}
	server := "https://" + addresses[0]
	many, few := min(rows, demoReporters), min(rows, demoTrusted)
	d.say("The operator asks everyone for one report, which each perturbs at home.")
	if err := d.answerTask(ctx, server, "local", many, max(many/100, 2), nil); err != nil {
		return err
	}
	d.say("Now for shares of secret sums, which need less noise, of people whose keys the operator has.")
	if _, err := d.runInto(ctx, "roster.txt", "owner", "keys", "--book", "secret.db", "--lifetime-epsilon", d.epsilon, "--owners",
		strconv.Itoa(few)); err != nil {
		return err
	}
	least := max(few/20, 2)
	if err := d.answerTask(ctx, server, "secret", few, least, []string{"--mode", "aggregate", "--honest", strconv.Itoa(few - least/2)},
		"--rounds", "1", "--roster", "roster.txt", "--helpers", helpers); err != nil {
		return err
	}
	d.say("For comparison: the rows of all in one place.")
	if err := d.trainOne(ctx, "pooled", "additive", "--epsilon", d.epsilon); err != nil {
		return err
	}
	price := "epsilon = " + d.epsilon
	d.models = []demoModel{
		{"pooled", []string{"pooled.json"}, fmt.Sprintf("%s, %d people; who has the rows is trusted", price, rows)},
		{"secret sums", []string{"secret.json"}, fmt.Sprintf("%s, %d people; the helpers are trusted", price, few)},
		{"perturbed at home", []string{"local.json"}, fmt.Sprintf("%s, %d people; nobody is trusted", price, many)},
		{"alone", nil, "one person has one row, and no model"},
	}
	return nil
}

// answerTask creates a task, has its owners answer it, and fetches the model. least is the number of reports that a slot must
// have; mode holds flags of task create that owners have, too, and more hold its others.
func (d *demo) answerTask(ctx context.Context, server, name string, owners, least int, mode []string, more ...string) error {
	n := strconv.Itoa(owners)
	create := slices.Concat([]string{"task", "create", "--certs", "certs", "--as", "operator/me", "--server", server, "--schema", schemaFile,
		"--classifier", "stump", "--epsilon", d.epsilon, "--owners", n, "--minimum", strconv.Itoa(least), "--slot", "10m", "--quiet", "2s",
		"--ends", "1h"}, mode, more)
	id, err := d.run(ctx, create...)
	if err != nil {
		return err
	}
	_, err = d.run(ctx, append([]string{"owner", "--certs", "certs", "--as", "owner/me", "--server", server, "--task", strings.TrimSpace(id),
		"--data", "pooled.csv", "--book", name + ".db", "--max-epsilon", d.epsilon, "--lifetime-epsilon", d.epsilon, "--owners", n,
		"--model", name + ".json"}, mode...)...)
	return err
}

// startHelpers starts three helpers of secret sums, and returns them as flags name them.
func (d *demo) startHelpers(ctx context.Context) (string, error) {
	addresses, err := freeAddresses(ctx, 3)
	if err != nil {
		return "", err
	}
	d.say("Three other organisations each run a helper, which holds shares.")
	var all []string
	for i, name := range []string{"ann", "ben", "cem"} {
		if err := d.start(ctx, name, addresses[i], "helper", "--certs", "certs", "--as", "helper/"+name, "--store", name+".db"); err != nil {
			return "", err
		}
		all = append(all, name+"=https://"+addresses[i])
	}
	return strings.Join(all, ","), nil
}

// trainAlike trains one model on all rows and one on those of each institution.
func (d *demo) trainAlike(ctx context.Context, learner string, price ...string) error {
	for _, name := range append([]string{"pooled"}, d.names()...) {
		if err := d.trainOne(ctx, name, learner, price...); err != nil {
			return err
		}
	}
	return nil
}

// trainOne trains a model on the rows of one table.
func (d *demo) trainOne(ctx context.Context, name, learner string, price ...string) error {
	args := []string{"site", "fit", "--data", name + ".csv", "--schema", schemaFile, "--learner", learner, "--model", name + ".json"}
	if price != nil && d.written.Relation == dp.AddRemove {
		rows := d.count(func(unit int) bool { return unit%2 == 0 })
		if name != "pooled" {
			rows /= d.members // whose sum is all that is declared
		}
		args = append(args, "--declared-rows", strconv.Itoa(rows))
	}
	_, err := d.run(ctx, append(args, price...)...)
	return err
}

func prefixed(prefix string, names []string) (all []string) {
	for _, name := range names {
		all = append(all, prefix+name)
	}
	return all
}

func suffixed(names []string, suffix string) (all []string) {
	for _, name := range names {
		all = append(all, name+suffix)
	}
	return all
}
