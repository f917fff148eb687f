// SPDX-License-Identifier: Apache-2.0

// Package identity identifies the other end of a connection by a role and a name, from a certificate
// that an authority signed and has not revoked.
//
// Both ends of every connection show a certificate, over TLS 1.3. The authority signs the role, so
// that callers cannot choose their own. The authority in this package is for trials. An organisation's
// own authority can sign the same certificates, which only need the subject alternative name
// discreet://ROLE/NAME.
package identity
