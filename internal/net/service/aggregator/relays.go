// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// ParseRelays parses how many owners the certificates of relays may bring, each as NAME=NUMBER. Every
// other certificate may bring each owners.
func ParseRelays(each int, texts []string) (map[string]int, error) {
	if each < 1 {
		return nil, dp.Refuse("aggregator", "owners per certificate", "must be at least 1", each)
	}
	relays := map[string]int{}
	for _, r := range texts {
		name, number, _ := strings.Cut(r, "=")
		n, err := strconv.Atoi(number)
		if (identity.Caller{Role: identity.Owner, Name: name}).Check() != nil || err != nil || n < 1 || relays[name] != 0 {
			return nil, dp.Refuse("aggregator", "relay", "must be NAME=NUMBER, each name once, the number at least 1", r)
		}
		relays[name] = n
	}
	return relays, nil
}
