// SPDX-License-Identifier: Apache-2.0

package secsum

import "testing"

// A commitment is to one task, owner, holder and part: it serves for no other.
func TestCommitmentsAreOfOneHolder(t *testing.T) {
	s := &shamir{}
	s.tag[0] = 1
	other := *s
	other.tag[0] = 2
	part := []byte("a part")
	want := s.commitTo(3, 1, part)
	for what, got := range map[string][32]byte{
		"task": other.commitTo(3, 1, part), "owner": s.commitTo(4, 1, part), "holder": s.commitTo(3, 2, part),
		"part": s.commitTo(3, 1, []byte("a port")),
	} {
		if got == want {
			t.Errorf("another %s has the same commitment", what)
		}
	}
}
