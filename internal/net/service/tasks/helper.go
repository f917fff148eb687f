// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// Helper is one holder of the shares of a task in mode aggregate.
type Helper struct {
	Name    string `json:"name"`    // of its certificate, helper/NAME
	Address string `json:"address"` // https://host:port
}

// The limits of a list of helpers.
const (
	minHelpers = 3
	maxHelpers = 255
)

// checkHelpers refuses a list in which one helper could appear twice.
func checkHelpers(helpers []Helper) error {
	fault := dp.RefuseFor("announcement")
	if len(helpers) < minHelpers || len(helpers) > maxHelpers {
		return fault("helpers", fmt.Sprintf("must number %d to %d in mode aggregate: two thirds of them open a sum", minHelpers,
			maxHelpers), len(helpers))
	}
	names, addresses := map[string]bool{}, map[string]bool{}
	for _, h := range helpers {
		if err := (identity.Caller{Role: identity.Helper, Name: h.Name}).Check(); err != nil {
			return err
		}
		u, err := url.Parse(h.Address)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.String() != h.Address || strings.Trim(u.Path, "/") != "" ||
			u.RawQuery != "" || u.User != nil {
			return fault("helpers", "must have addresses like https://host:port", h.Address)
		}
		if names[h.Name] || addresses[u.Host] {
			return fault("helpers", "must each have a name and an address of its own", h.Name)
		}
		names[h.Name], addresses[u.Host] = true, true
	}
	return nil
}
