// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// firstWait is the wait before the second attempt; each further wait is three times as long.
var firstWait = 200 * time.Millisecond

const (
	attempts = 4
	// oneRequest is the timeout of a request with its answer, of at most mostPiece bytes.
	oneRequest = 5 * time.Minute
	maxAtOnce  = 16 // requests
	maxAnswer  = 16 << 20
)

// transport is shared by all clients, so that connections stay open between readings.
var transport = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = maxAtOnce
	t.ResponseHeaderTimeout = time.Minute
	t.DisableCompression = true // what is stored is what is read
	return t
}()

// client sends requests to one store.
type client struct {
	config
	http  http.Client
	slots chan struct{} // one per running request
	now   func() time.Time
}

func newClient(ctx context.Context) (*client, error) {
	c, err := readConfig(ctx)
	if err != nil {
		return nil, err
	}
	return &client{config: *c, slots: make(chan struct{}, maxAtOnce), now: time.Now,
		http: http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a request is signed for one store
		}}}, nil
}

// urlOf returns the URL of an object, or of a bucket for the key "". At Amazon it uses the bucket's
// own host if certificates allow it, and otherwise a path after the endpoint.
func (c *client) urlOf(bucket, key string) *url.URL {
	u := &url.URL{Scheme: "https", Host: "s3." + c.region + ".amazonaws.com"}
	if strings.HasPrefix(c.region, "cn-") {
		u.Host += ".cn"
	}
	path := "/" + bucket + "/" + key
	switch {
	case c.endpoint != nil:
		u.Scheme, u.Host = c.endpoint.Scheme, c.endpoint.Host
		path = strings.TrimSuffix(c.endpoint.Path, "/") + path
	case !strings.ContainsAny(bucket, "._") && bucket == strings.ToLower(bucket):
		u.Host = bucket + "." + u.Host
		path = "/" + key
	}
	u.Path, u.RawPath = path, encodePath(path)
	return u
}

// request is one request about the object or the bucket at an address.
type request struct {
	method, address string
	bucket, key     string
	query           map[string]string
	header          map[string]string
}

// ask sends a request, and repeats it if that may help, until use has read its answer, which has
// status 200 or 206. use is called again if the connection breaks.
func (c *client) ask(ctx context.Context, r request, use func(*http.Response) error) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := c.askOnce(ctx, r, use)
		final := (*Error)(nil)
		switch {
		case err == nil || errors.As(err, &final):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if attempt == attempts {
			return &Error{r.address, fmt.Sprintf("must be reachable: %v, %d times", withoutURL(err), attempts)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 3
	}
}

// withoutURL removes the address of a request from its error.
func withoutURL(err error) error {
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

func (c *client) askOnce(ctx context.Context, r request, use func(*http.Response) error) error {
	ctx, cancel := context.WithTimeout(ctx, oneRequest)
	defer cancel()
	u := c.urlOf(r.bucket, r.key)
	u.RawQuery = encodeQuery(r.query)
	q := (&http.Request{Method: r.method, URL: u, Host: u.Host, Header: http.Header{}}).WithContext(ctx)
	for name, value := range r.header {
		q.Header.Set(name, value)
	}
	keys, err := c.credentials.Retrieve(ctx)
	if err != nil { // its text is a service's
		return &Error{r.address, "must be read with keys that can be renewed: their source no longer answers"}
	}
	if err := sign(q, keys, c.region, c.now()); err != nil {
		return err
	}
	a, err := c.http.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode == http.StatusOK || a.StatusCode == http.StatusPartialContent {
		return use(a)
	}
	return c.refusal(r.address, a)
}

// tryAgain is an answer that may be different after a short wait.
type tryAgain struct{ status int }

func (e *tryAgain) Error() string { return fmt.Sprintf("the store answers HTTP %d", e.status) }

// codes are the error codes of stores with texts of our own. Other errors have a general text.
var codes = map[string]string{
	"AccessDenied":          "must be readable with these keys",
	"ExpiredToken":          "must be read with keys that have not expired",
	"InvalidAccessKeyId":    "must be read with keys that the store knows",
	"InvalidToken":          "must be read with the token that belongs to the keys (AWS_SESSION_TOKEN)",
	"NoSuchBucket":          "must lie in a bucket that exists",
	"NoSuchKey":             "must exist",
	"PreconditionFailed":    changed,
	"RequestTimeTooSkewed":  "must be read by a machine whose clock is right",
	"SignatureDoesNotMatch": "must be read with the secret that belongs to the keys (AWS_SECRET_ACCESS_KEY)",
	"InvalidObjectState":    "must not be archived",
}

const changed = "must not change while it is read"

// refusal converts an answer without content to an error.
func (c *client) refusal(address string, a *http.Response) error {
	var body struct{ Code string }
	if text, err := io.ReadAll(io.LimitReader(a.Body, 64<<10)); err == nil {
		_ = xml.Unmarshal(text, &body) // what is no such answer has no code
	}
	status := fmt.Sprintf(" (HTTP %d)", a.StatusCode)
	if region := a.Header.Get("X-Amz-Bucket-Region"); region != "" && region != c.region {
		return &Error{address, "must be in the region of AWS_REGION, which is " + c.region + ": its bucket is in another" +
			status}
	}
	if why, known := codes[body.Code]; known {
		return &Error{address, why + " (" + body.Code + ")"}
	}
	switch a.StatusCode {
	case http.StatusNotFound:
		return &Error{address, "must exist" + status}
	case http.StatusUnauthorized, http.StatusForbidden:
		return &Error{address, "must exist and be readable with these keys" + status}
	case http.StatusPreconditionFailed:
		return &Error{address, changed}
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &tryAgain{a.StatusCode}
	}
	return &Error{address, "must be given by the store, which refuses it" + status}
}
