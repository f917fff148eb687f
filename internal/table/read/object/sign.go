// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// keys are the credentials of the client.
type keys struct{ id, secret, token string }

// emptyHash is the SHA-256 of an empty request body.
var emptyHash = hashHex("")

// sign signs a request without a body by version 4 of Amazon's signatures. It covers the path in the
// form of encodePath, the query in the form of encodeQuery, and all headers that are set.
func sign(r *http.Request, k keys, region string, now time.Time) {
	r.Header.Set("X-Amz-Date", now.UTC().Format("20060102T150405Z"))
	r.Header.Set("X-Amz-Content-Sha256", emptyHash)
	if k.token != "" {
		r.Header.Set("X-Amz-Security-Token", k.token)
	}
	names := []string{"host"}
	for name := range r.Header {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	var headers strings.Builder
	for _, name := range names {
		value := r.URL.Host
		if name != "host" {
			value = strings.TrimSpace(r.Header.Get(name))
		}
		headers.WriteString(name + ":" + value + "\n")
	}
	signed := strings.Join(names, ";")
	lines := []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, headers.String(), signed, emptyHash}

	date := now.UTC().Format("20060102")
	scope := date + "/" + region + "/s3/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + hashHex(strings.Join(lines, "\n"))
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{date, region, "s3", "aws4_request"} {
		key = authenticate(key, part)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.id+"/"+scope+",SignedHeaders="+signed+
		",Signature="+hex.EncodeToString(authenticate(key, text)))
}

func hashHex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func authenticate(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
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
