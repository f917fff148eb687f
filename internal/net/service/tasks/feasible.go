// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// Circumstances are public facts outside of an announcement that determine whether its task can
// succeed.
type Circumstances struct {
	Owners    int       // expected number of owners; 0: unknown
	Roster    Roster    // the permitted owners; nil: any owner with a key
	Signature time.Time // expiry of the operator's certificate
	Now       time.Time
}

// maxMiss is the largest accepted probability that the random assignment of owners to slots leaves
// some slot below its minimum, if every owner takes part.
const maxMiss = 0.01

// CheckFeasible refuses a task that cannot succeed for any reports, so that owners do not pay in vain.
// It uses public numbers only.
//
//   - Owners refuse a task once its operator's certificate has ended.
//   - Every slot lasts for its quiet time or, without one, as long as it may.
//   - Every slot needs its minimum. Of listed owners the places are known; of N
//     others, a slot with the part p of all places gets Binomial(N, p).
//   - Demanded proofs of ranges must fit into a message.
func (a *Announcement) CheckFeasible(c Circumstances) error {
	fault := dp.RefuseFor("task")
	if c.Signature.Before(a.Ends) {
		return fault("ends", "must not be after the operator's certificate ends, "+stamp(c.Signature)+
			": owners refuse the task from then on", stamp(a.Ends))
	}
	slots := a.Task.Slots()
	least, what := a.Quiet, "quiet time"
	if least == 0 {
		least, what = a.Slot, "slot's time"
	}
	if left := a.Ends.Sub(c.Now); least > (left-1)/time.Duration(slots) {
		return fault("ends", fmt.Sprintf("must be later than %d times the %s of %s from now: so long the slots last at least",
			slots, what, least), stamp(a.Ends))
	}
	if a.Task.Mode == wire.Aggregate {
		if most := MostOwners(a.Task); a.Minimum > most {
			return fault("minimum", fmt.Sprintf("must be at most %d: no more owners fit into one secret sum of this task", most),
				a.Minimum)
		}
	}
	if a.Proofs {
		switch size, err := a.largestProof(max(2, min(MostOwners(a.Task), c.Roster.Len()))); {
		case err != nil:
			return err
		case size > secretsum.MaxProof:
			return fault("proofs", fmt.Sprintf("must take at most %d bytes a helper: the questions have too many cells for it",
				secretsum.MaxProof), size)
		}
	}
	listed := c.Roster.Len()
	if listed > 0 && c.Owners > listed {
		return fault("owners", fmt.Sprintf("must be at most %d: no more are on the list of owners", listed), c.Owners)
	}
	placing, err := a.Task.Placing()
	if err != nil {
		return err
	}
	if listed > 0 {
		if slot, n := fewest(placing, slots, c.Roster); n < a.Minimum {
			return fault("minimum",
				fmt.Sprintf("must be at most %d: so many of the %d listed owners are in slot %d, and a slot with fewer "+
					"ends the task", n, listed, slot+1), a.Minimum)
		}
	}
	if c.Owners == 0 || c.Owners == listed {
		return nil
	}
	parts := map[float64]int{} // of all places: how many slots have it
	smallest := 1.0
	for s := range slots {
		p := placing.Part(s)
		parts[p]++
		smallest = min(smallest, p)
	}
	if miss(c.Owners, a.Minimum, parts) <= maxMiss {
		return nil
	}
	most := largestMinimum(c.Owners, a.Minimum, parts)
	mean := fmt.Sprintf("of %d owners the smallest of the %d slots gets %.1f on average", c.Owners, slots,
		float64(c.Owners)*smallest)
	if most < minBatch {
		return fault("owners", fmt.Sprintf("must be more: %s, and every slot needs at least %d", mean, minBatch), c.Owners)
	}
	return fault("minimum", fmt.Sprintf("must be at most %d: %s, and a slot with fewer than the minimum ends the task",
		most, mean), a.Minimum)
}

// miss bounds the probability that some slot has fewer than minimum of the owners.
func miss(owners, minimum int, parts map[float64]int) (sum float64) {
	if minimum > owners {
		return 1
	}
	for p, n := range parts {
		few, _ := stats.Tails(minimum-1, owners, p)
		sum += float64(n) * few
	}
	return sum
}

// largestMinimum returns the largest minimum that is not missed too often, below one that is; 0 if
// there is none.
func largestMinimum(owners, missed int, parts map[float64]int) int {
	good := 0
	for good+1 < missed {
		if mid := good + (missed-good)/2; miss(owners, mid, parts) <= maxMiss {
			good = mid
		} else {
			missed = mid
		}
	}
	return good
}

// fewest returns the slot with the fewest listed owners, and their number.
func fewest(placing *wire.Placing, slots int, r Roster) (slot, owners int) {
	counts := make([]int, slots)
	for i := range r.Len() {
		counts[placing.Of(hex.EncodeToString(r.at(i))).Slot]++
	}
	for s, n := range counts {
		if n < counts[slot] {
			slot = s
		}
	}
	return slot, counts[slot]
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
