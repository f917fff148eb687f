// SPDX-License-Identifier: Apache-2.0

// Package object reads objects from stores with the protocol of Amazon S3, in pieces, by signed
// requests: s3://BUCKET/KEY for an object, and s3://BUCKET/FOLDER/ for the objects in a folder. It
// never writes. Endpoint, region and keys come from the environment and the usual configuration files
// for such stores, and appear in no address or error.
//
// A store is trusted only for the bytes of objects: none of its texts are shown, and redirections are
// not followed.
package object

import (
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

const (
	op     = "data"
	prefix = "s3://"
)

// IsAddress reports whether path is the address of an object or of a folder of objects.
func IsAddress(path string) bool { return strings.HasPrefix(path, prefix) }

// IsFolder reports whether an address is that of a folder, which ends in a slash.
func IsFolder(address string) bool { return IsAddress(address) && strings.HasSuffix(address, "/") }

// Check refuses an invalid address, without opening anything.
func Check(address string) error {
	_, _, err := split(address)
	return err
}

// bucketName accepts more than Amazon allows today, because old names may be longer.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$`)

// split returns the bucket and the key of an address. Its errors do not repeat the address, which may
// contain a password.
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

// Error is the reason why an object could not be read.
type Error struct {
	Address string
	Why     string // without keys and without text from the store
}

func (e *Error) Error() string { return op + ": " + e.Address + ": " + e.Why }
