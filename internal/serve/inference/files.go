// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"crypto/tls"
	"io"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// readRegular reads a regular file of at most most bytes, and returns one more byte if it is longer.
// It does not wait for a writer to a pipe. If a network file system hangs, only goroutines that
// nothing waits for are blocked.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// certificate is the content of its files when they could last be read.
type certificate struct {
	read     func() (*tls.Certificate, error)
	patience time.Duration // how long a connection waits for the files
	last     atomic.Pointer[tls.Certificate]
	reading  atomic.Bool
}

// get reads the files again, since they may have been replaced, unless they are being read. If that
// fails or takes too long, it returns the previous certificate.
func (c *certificate) get() *tls.Certificate {
	if c.reading.CompareAndSwap(false, true) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer c.reading.Store(false)
			if next, err := c.read(); err == nil {
				c.last.Store(next)
			}
		}()
		late := time.NewTimer(c.patience)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
		}
	}
	return c.last.Load()
}

// maxCertificate is the largest size of a certificate or key file in bytes.
const maxCertificate = 1 << 20

// ReadCertificate reads a certificate and its key, in PEM.
func ReadCertificate(cert, key string) (*tls.Certificate, error) {
	certPEM, err := readRegular(cert, maxCertificate)
	if err != nil {
		return nil, err
	}
	keyPEM, err := readRegular(key, maxCertificate)
	if err != nil {
		return nil, err
	}
	c, err := tls.X509KeyPair(certPEM, keyPEM)
	return &c, err
}
