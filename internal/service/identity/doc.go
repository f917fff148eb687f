// SPDX-License-Identifier: Apache-2.0

// Package identity says who is at the other end of a connection: a role and a
// name, from a certificate that an authority signed and has not revoked.
//
// Both ends of every connection show a certificate, over TLS 1.3. A role is part
// of what the authority signed, so no one chooses their own. The authority here
// is for trials; an organisation's own may sign the same certificates: the
// subject alternative name discreet://ROLE/NAME, and nothing else of ours.
package identity
