// SPDX-License-Identifier: Apache-2.0

package tasks_test

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// Owners take a task that an operator has signed, as it was signed and before its end, and no other.
func TestSignedTasksOfOthersAreRefused(t *testing.T) {
	now := time.Now()
	authority, err := identity.NewAuthority(now, 24*time.Hour)
	must(t, err)
	who := func(role identity.Role) *identity.Identity {
		id, err := authority.Issue(identity.Caller{Role: role, Name: "me"}, []string{"localhost"}, now, 12*time.Hour)
		must(t, err)
		return id
	}
	owner, a := who(identity.Owner), secretTask(t)
	a.Ends = now.Add(time.Hour).Truncate(time.Second)
	for _, role := range identity.Roles() {
		signed, err := a.Sign(who(role))
		must(t, err)
		for what, c := range map[string]struct {
			change func(*tasks.Signed)
			at     time.Time
			taken  bool
		}{
			"as it is":               {nil, now, true},
			"a second before":        {nil, a.Ends.Add(-time.Second), true},
			"at its end":             {nil, a.Ends, false},
			"after its end":          {nil, a.Ends.Add(time.Minute), false},
			"with another text":      {func(s *tasks.Signed) { s.Text = append(s.Text[:len(s.Text):len(s.Text)], ' ') }, now, false},
			"with another's name":    {func(s *tasks.Signed) { s.Signature.Certificate = s.Signature.Certificate[1:] }, now, false},
			"with a wrong signature": {func(s *tasks.Signed) { s.Signature.Value = s.Signature.Value[1:] }, now, false},
		} {
			s := signed
			if c.change != nil {
				c.change(&s)
			}
			if _, err := s.Open(owner, c.at); (err == nil) != (c.taken && role == identity.Operator) {
				t.Errorf("signed by %s, %s: %v", role, what, err)
			}
		}
	}
}
