// SPDX-License-Identifier: Apache-2.0

// Package object reads objects of stores that speak the protocol of Amazon S3, in pieces, by signed
// requests: s3://BUCKET/KEY, and s3://BUCKET/FOLDER/ for the objects that lie there. It never
// writes. Endpoint, region and keys come from the environment and the configuration files that
// other programs for such stores read, and are in no address and in no error.
//
// What a store answers is trusted for the bytes of objects alone: no text of it is passed on, and
// redirections are not followed.
package object

import (
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

const (
	op     = "data"
	prefix = "s3://"
)

// IsAddress tells the address of an object, or of a folder of them, from a path.
func IsAddress(path string) bool { return strings.HasPrefix(path, prefix) }

// IsFolder tells the address of a folder, which ends in a slash, from that of an object.
func IsFolder(address string) bool { return IsAddress(address) && strings.HasSuffix(address, "/") }

// Check refuses what cannot be an address, without opening anything.
func Check(address string) error {
	_, _, err := split(address)
	return err
}

// bucketName is wider than what Amazon allows today, as names once were.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$`)

// split is the bucket and the key of an address. Its errors do not repeat the address, which may
// hold a password.
func split(address string) (bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(address, prefix), "/")
	wrong := func(want, hint string) (string, string, error) {
		return "", "", &dp.ParamError{Op: op, Param: "address of an object", Want: want, Hint: hint}
	}
	switch {
	case strings.Contains(bucket, "@"):
		return wrong("must not hold keys", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	case !bucketName.MatchString(bucket):
		return wrong("must begin with s3:// and a bucket's name", "s3://BUCKET/KEY, or s3://BUCKET/FOLDER/ for all its "+
			"Parquet files")
	case strings.Contains(key, "?"):
		return wrong("must have no parameters", "set AWS_ENDPOINT_URL, AWS_REGION and AWS_PROFILE in the environment")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }):
		return wrong("must be UTF-8 without control characters", "")
	case len(key) > 1024:
		return wrong("must have a key of at most 1,024 bytes", "")
	}
	return bucket, key, nil
}

// Error is what kept an object from being read.
type Error struct {
	Address string
	Why     string // without keys, and without the store's own words
}

func (e *Error) Error() string { return op + ": " + e.Address + ": " + e.Why }
