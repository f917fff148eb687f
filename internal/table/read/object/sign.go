// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// emptyHash is the SHA-256 of an empty request body.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signer takes paths as they are, in the form of encodePath.
var signer = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })

// sign signs a request without a body by version 4 of Amazon's signatures.
func sign(r *http.Request, keys aws.Credentials, region string, now time.Time) error {
	r.Header.Set("X-Amz-Content-Sha256", emptyHash)
	return signer.SignHTTP(r.Context(), keys, r, emptyHash, "s3", region, now)
}

// encode writes as %XX all bytes other than letters, digits, - . _ ~ and the bytes in also.
func encode(text, also string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~"+also, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + digits[c>>4:c>>4+1] + digits[c&15:c&15+1])
		}
	}
	return b.String()
}

func encodePath(path string) string { return encode(path, "/") }

// encodeQuery writes parameters sorted by name.
func encodeQuery(query map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parts = append(parts, encode(name, "")+"="+encode(query[name], ""))
	}
	return strings.Join(parts, "&")
}
