// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"crypto/x509"
	"fmt"
	"time"
)

// DescribeLife describes how long a certificate is still valid. A certificate that is not valid now is
// refused.
func DescribeLife(cert *x509.Certificate, now time.Time) (string, error) {
	switch {
	case now.After(cert.NotAfter):
		return "", fmt.Errorf("the certificate ended at %s", stamp(cert.NotAfter))
	case now.Before(cert.NotBefore):
		return "", fmt.Errorf("the certificate begins at %s", stamp(cert.NotBefore))
	}
	return fmt.Sprintf("valid until %s, %d days", stamp(cert.NotAfter), int(cert.NotAfter.Sub(now).Hours()/24)), nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
