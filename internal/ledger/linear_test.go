// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// What was asked of the ledger: to charge a price, or what is spent where price is 0; and what it
// said: granted, or what is spent.
type (
	asked struct {
		price dp.Epsilon
	}
	answered struct {
		granted bool
		spent   dp.Epsilon
	}
)

// oneByOne is a budget of dp.Nano that is asked one thing after the other; its state is what is
// spent.
var oneByOne = porcupine.Model{
	Init: func() any { return dp.Epsilon(0) },
	Step: func(state, in, out any) (bool, any) {
		spent, price, said := state.(dp.Epsilon), in.(asked).price, out.(answered)
		switch {
		case price == 0:
			return said.spent == spent, spent
		case said.granted:
			return spent+price <= dp.Nano, spent + price
		}
		return spent+price > dp.Nano, spent
	},
}

// judge reports whether what was said could have been said one after the other, each answer between
// its question and its end.
func judge(history []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(oneByOne, history, 2*time.Minute)
}

// TestSpendingIsOneByOne lets a hundred spenders, each with connections of its own, ask for
// different prices and for the balance, several at once.
func TestSpendingIsOneByOne(t *testing.T) {
	// The search for an order takes time that is exponential in how many ask at once.
	const spenders, atOnce = 100, 8
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		declare(t, p)
		began := time.Now()
		var lock sync.Mutex
		var history []porcupine.Operation
		note := func(client int, in asked, ask func() (answered, error)) {
			call := time.Since(began).Nanoseconds()
			out, err := ask()
			if err != nil {
				t.Error(err)
			}
			lock.Lock()
			defer lock.Unlock()
			history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out,
				Return: time.Since(began).Nanoseconds()})
		}
		var wg sync.WaitGroup
		turns := make(chan bool, atOnce)
		for i := range spenders {
			wg.Go(func() {
				turns <- true
				defer func() { <-turns }()
				l, err := Open(context.Background(), p.address)
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Close()
				price := dp.Epsilon(1+rand.New(rand.NewPCG(uint64(i), 7)).IntN(9)) * dp.Nano / 100
				note(i, asked{price}, func() (answered, error) {
					j, err := l.Job(context.Background(), request("job"+string(rune('A'+i/26))+string(rune('a'+i%26))))
					if err == nil {
						err = charge(context.Background(), j, price)
					}
					var exceeded *Exceeded
					if errors.As(err, &exceeded) {
						return answered{}, nil
					}
					return answered{granted: true}, err
				})
				note(i, asked{}, func() (answered, error) {
					b, err := l.Balances(context.Background(), "d")
					if err != nil {
						return answered{}, err
					}
					return answered{spent: b[0].Spent + b[0].Reserved}, nil
				})
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		if got := judge(history); got != porcupine.Ok {
			t.Errorf("%d answers are not those of a ledger that is asked one by one: %s", len(history), got)
		}
	})
}

// A grant too many, and a balance that never was, are seen.
func TestJudgeRefuses(t *testing.T) {
	history := []porcupine.Operation{
		{Input: asked{dp.Nano / 2}, Call: 0, Output: answered{granted: true}, Return: 9},
		{Input: asked{dp.Nano / 2}, Call: 1, Output: answered{granted: true}, Return: 8},
		{Input: asked{}, Call: 2, Output: answered{spent: dp.Nano / 2}, Return: 7},
	}
	if got := judge(history); got != porcupine.Ok {
		t.Errorf("a history that could be: %s", got)
	}
	for _, more := range []porcupine.Operation{
		{Input: asked{1}, Call: 10, Output: answered{granted: true}, Return: 11},
		{Input: asked{}, Call: 10, Output: answered{spent: dp.Nano / 2}, Return: 11},
		{Input: asked{1}, Call: 3, Output: answered{granted: false}, Return: 4},
	} {
		if got := judge(append(history[:len(history):len(history)], more)); (got == porcupine.Ok) != (more.Call == 3) {
			t.Errorf("%+v: %s", more, got)
		}
	}
}
