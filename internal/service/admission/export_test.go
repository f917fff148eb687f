// SPDX-License-Identifier: Apache-2.0

package admission

// Standing is how many calls hold a place and how many wait for one.
func (p *Places) Standing() (held, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken.calls, p.waiting
}
