// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/discreet-dp/discreet/internal/check/testkit/objecttest"
)

func init() { firstWait = time.Millisecond }

// invent is n bytes that repeat nowhere.
func invent(n int) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{7})
	_, _ = r.Read(data)
	return data
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"s3://bucket/a/b.csv":         "bucket a/b.csv",
		"s3://bucket/folder/":         "bucket folder/",
		"s3://bucket/":                "bucket ",
		"s3://my.old_Bucket/a b+%.gz": "my.old_Bucket a b+%.gz",
	} {
		bucket, key, err := split(address)
		if got := bucket + " " + key; err != nil || got != want {
			t.Errorf("%s: %q %v", address, got, err)
		}
	}
	for _, address := range []string{"s3://", "s3:///key", "s3://a", "s3://bucket:9000/key", "s3://b?region=x/key",
		"s3://AKIDSECRET:hush@bucket/key", "s3://bucket/key?token=hush", "s3://bucket/a\nb", "s3://bucket/\xff",
		"s3://bucket/" + strings.Repeat("k", 1025)} {
		if err := Check(address); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// Amazon's documentation of its signatures gives these.
func TestSignaturesAreThePublishedOnes(t *testing.T) {
	for _, c := range []struct {
		url, spanned, signature string
	}{
		{"https://examplebucket.s3.amazonaws.com/test.txt", "bytes=0-9",
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"https://examplebucket.s3.amazonaws.com/?lifecycle=", "",
			"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "",
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
		if c.spanned != "" {
			r.Header.Set("Range", c.spanned)
		}
		if err := sign(r, aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE",
			SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}, "us-east-1",
			time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature="); got != c.signature {
			t.Errorf("%s: signature %s", c.url, got)
		}
	}
}

func TestWhereObjectsAre(t *testing.T) {
	amazon, china := &client{config: config{region: "eu-west-1"}}, &client{config: config{region: "cn-north-1"}}
	own := &client{config: config{region: "r", endpoint: &url.URL{Scheme: "http", Host: "h:9000", Path: "/store/"}}}
	for _, c := range []struct {
		c                 *client
		bucket, key, want string
	}{
		{amazon, "bucket", "a b/+ü.csv", "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/%2B%C3%BC.csv"},
		{amazon, "my.bucket", "a", "https://s3.eu-west-1.amazonaws.com/my.bucket/a"},
		{amazon, "bucket", "", "https://bucket.s3.eu-west-1.amazonaws.com/"},
		{china, "bucket", "a//b", "https://bucket.s3.cn-north-1.amazonaws.com.cn/a//b"},
		{own, "bucket", "%41", "http://h:9000/store/bucket/%2541"},
	} {
		if got := c.c.urlOf(c.bucket, c.key).String(); got != c.want {
			t.Errorf("%s", got)
		}
	}
}

// Both ways of reading are held to what readers promise, at sizes around those of pieces.
func TestReadersGiveTheBytes(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	for _, n := range []int{0, 1, firstPiece, firstPiece + 1, 3*firstPiece + 5, 4<<20 + 3, 21<<20 + 1} {
		data := invent(n)
		o, err := Open(t.Context(), s.Put(fmt.Sprintf("a %d/ü+.bin", n), data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(o.Reader()); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, from the beginning: %d, %v", n, len(got), err)
		}
		for _, span := range [][2]int{{0, n}, {n / 3, n / 2}, {n, 0}} {
			got, err := io.ReadAll(o.Section(int64(span[0]), int64(span[1])))
			if err != nil || !bytes.Equal(got, data[span[0]:span[0]+span[1]]) {
				t.Errorf("%d bytes of %d, from %d: %d, %v", span[1], n, span[0], len(got), err)
			}
		}
		if n < 1<<20 {
			if err := iotest.TestReader(io.NewSectionReader(o, 0, o.Size()), data); err != nil {
				t.Error(err)
			}
		}
		o.Forget()
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLittleIsAskedForABeginning(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	o, err := Open(t.Context(), s.Put("a", invent(5<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := io.ReadFull(o.Reader(), make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	want := []string{"HEAD /tables/a", "GET /tables/a bytes=0-262143"}
	if got := s.Asked(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// A Parquet file's metadata are read in bits, and asked for once.
func TestTheEndIsAskedForOnce(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	data := invent(2 << 20)
	o, err := Open(t.Context(), s.Put("a", data))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	s.Break(nil)
	for _, span := range [][2]int{{8, 8}, {1000, 992}, {600 << 10, 600 << 10}, {8, 8}, {600 << 10, 10}} {
		got := make([]byte, span[1])
		from := len(data) - span[0]
		if _, err := o.ReadAt(got, int64(from)); err != nil || !bytes.Equal(got, data[from:from+span[1]]) {
			t.Errorf("%v: %v", span, err)
		}
	}
	want := []string{"GET /tables/a bytes=1835008-2097151", "GET /tables/a bytes=1482752-1835007"}
	if got := s.Asked(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestFoldersAreListedWhole(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	var want []string
	for i := range 1203 { // a page has 1,000
		want = append(want, s.Put(fmt.Sprintf("f/part %04d+%%.parquet", i), []byte{1, 2, 3}))
	}
	s.Put("f/below/x", nil)
	s.Put("fother", nil)
	s.Put("f/", nil)
	want = append(want, "s3://tables/f/below/")
	slices.Sort(want)
	ctx := Hold(t.Context())
	got, err := List(ctx, "s3://tables/f/")
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d objects, %v", len(got), err)
	}
	// What the listing says of objects is not asked for again.
	s.Break(nil)
	if v, _, err := find(ctx, got[3]); v.size != 3 || err != nil || len(s.Asked()) != 0 {
		t.Errorf("%d bytes, %v, asked %v", v.size, err, s.Asked())
	}
	s.Put("f/another", nil)
	if again, err := List(ctx, "s3://tables/f/"); err != nil || !slices.Equal(got, again) {
		t.Errorf("the reading's folder has %d objects now: %v", len(again), err)
	}
	if last := got[len(got)-1]; !strings.HasSuffix(last, "/part 1202+%.parquet") {
		t.Errorf("%q", last)
	}
}

// An object that is replaced is refused: by If-Match, by the answer's ETag if the store does not
// heed it, and when it is opened again in the same reading.
func TestAChangedObjectIsRefused(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	address := s.Put("a", invent(2<<20))
	ctx := Hold(t.Context())
	o, err := Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	s.Put("a", bytes.Repeat([]byte{1}, 2<<20))
	want := "data: s3://tables/a: " + changed
	if _, err := io.ReadAll(o.Reader()); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	o.client.http.Transport = forgetful{transport}
	if _, err := o.ReadAt(make([]byte, 1), 0); err == nil || err.Error() != want {
		t.Errorf("without If-Match: %v", err)
	}
	again, err := Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := io.ReadAll(again.Reader()); err == nil || err.Error() != want {
		t.Errorf("opened again: %v", err)
	}
	other, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got, err := io.ReadAll(other.Reader()); err != nil || len(got) != 2<<20 || got[0] != 1 {
		t.Errorf("another reading: %v", err)
	}
}

// A store that has another version, or gives other bytes than those that were asked for, is noticed
// before any are used.
func TestRequestsNameVersionAndPlace(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	o, err := Open(t.Context(), s.Put("a", invent(2<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	s.Break(func(_ int, r *http.Request) (a objecttest.Answer) {
		if r.Header.Get("If-Match") != o.tag {
			t.Errorf("%s %s names no version", r.Method, r.URL)
		}
		return a
	})
	if _, err := io.ReadAll(o.Reader()); err != nil {
		t.Error(err)
	}
	for _, heeded := range []string{"", "bytes=1-300000"} {
		s.Break(func(_ int, r *http.Request) (a objecttest.Answer) {
			if r.Header.Del("Range"); heeded != "" {
				r.Header.Set("Range", heeded)
			}
			return a
		})
		want := "data: s3://tables/a: must be given in the pieces that are asked for"
		if _, err := io.ReadAll(o.Reader()); err == nil || err.Error() != want {
			t.Errorf("range %q is given: %v", heeded, err)
		}
	}
}

// forgetful leaves If-Match out.
type forgetful struct{ http.RoundTripper }

func (f forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Del("If-Match")
	return f.RoundTripper.RoundTrip(r)
}

// A broken connection and a busy store are asked again, a few times.
func TestWhatMayPassIsTriedAgain(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	data := invent(3 << 20)
	address := s.Put("a", data)
	for name, fault := range map[string]Fault{
		"cut once": func(n int, _ *http.Request) objecttest.Answer { return objecttest.Answer{Cut: n == 2} },
		"busy for a while": func(n int, _ *http.Request) objecttest.Answer {
			if n == 1 || n == 2 {
				return objecttest.Answer{Status: http.StatusServiceUnavailable}
			}
			return objecttest.Answer{}
		},
	} {
		s.Break(objecttest.Fault(fault))
		o, err := Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(o.Reader()); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		o.Close()
	}
	s.Break(func(n int, _ *http.Request) objecttest.Answer { return objecttest.Answer{Cut: n > 0} })
	o, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	_, err = io.ReadAll(o.Reader())
	if want := "data: s3://tables/a: must be reachable: unexpected EOF, 4 times"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

type Fault = func(n int, r *http.Request) objecttest.Answer

// Errors say what is wrong and hold neither keys nor words of the store.
func TestErrors(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	s.Put("a", []byte("12"))
	answer := func(status int, body string) Fault {
		return func(_ int, r *http.Request) objecttest.Answer {
			if r.Method == http.MethodHead {
				body = ""
			}
			return objecttest.Answer{Status: status, Body: body}
		}
	}
	for _, c := range []struct {
		address, want string
		fault         Fault
	}{
		{"s3://tables/absent", "must exist (NoSuchKey)", nil},
		{"s3://nowhere/a", "must lie in a bucket that exists (NoSuchBucket)", nil},
		{"s3://tables/a", "must be readable with these keys (AccessDenied)",
			func(_ int, r *http.Request) objecttest.Answer {
				return objecttest.Answer{Status: 403, Body: map[bool]string{true: "<Error><Code>AccessDenied</Code><Message>hush " +
					objecttest.KeyID + "</Message></Error>"}[r.Method == http.MethodGet]}
			}},
		{"s3://tables/a", "must exist and be readable with these keys (HTTP 403)", answer(403, "")},
		{"s3://tables/a", "must be given by the store, which refuses it (HTTP 400)", answer(400, "hush")},
		{"s3://tables/a", "must be given by the store, which refuses it (HTTP 400)",
			func(_ int, r *http.Request) objecttest.Answer {
				return objecttest.Answer{Status: 400, Body: map[bool]string{true: "<Error><Code>hush</Code></Error>"}[r.Method ==
					http.MethodGet]}
			}},
		{"s3://tables/a", "must be given by the store, which refuses it (HTTP 307)", answer(307, "hush")},
		{"s3://tables/a", "must be reachable: the store answers HTTP 500, 4 times", answer(500, "hush")},
	} {
		s.Break(objecttest.Fault(c.fault))
		_, err := Open(t.Context(), c.address)
		if want := "data: " + c.address + ": " + c.want; err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
		if c.fault == nil {
			continue
		}
		if _, err := List(t.Context(), "s3://tables/f/"); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("list: %v", err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	_, err := Open(t.Context(), "s3://tables/a")
	if err == nil || !strings.HasPrefix(err.Error(), "data: s3://tables/a: must be reachable: dial tcp") {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ended, "s3://tables/a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A request is signed for one store: another one that it names is not asked.
func TestRedirectionsAreNotFollowed(t *testing.T) {
	objecttest.Start(t, t.Setenv)
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	store := httptest.NewServer(http.RedirectHandler(other.URL+"/tables/a", http.StatusTemporaryRedirect))
	defer store.Close()
	t.Setenv("AWS_ENDPOINT_URL", store.URL)
	_, err := Open(t.Context(), "s3://tables/a")
	if want := "data: s3://tables/a: must be given by the store, which refuses it (HTTP 307)"; err == nil ||
		err.Error() != want || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestABucketElsewhere(t *testing.T) {
	c := &client{config: config{region: "us-east-1"}}
	err := c.refusal("s3://b/k", &http.Response{StatusCode: 301, Body: http.NoBody,
		Header: http.Header{"X-Amz-Bucket-Region": {"eu-west-1"}}})
	want := "data: s3://b/k: must be in the region of AWS_REGION, which is us-east-1: its bucket is in another (HTTP 301)"
	if err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestWhereKeysComeFrom(t *testing.T) {
	objecttest.Start(t, t.Setenv)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_ENDPOINT_URL", "")
	dir := t.TempDir()
	write := func(variable, text string) {
		path := filepath.Join(dir, variable)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, path)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	keysOf := func(c *config) [3]string {
		k, err := c.credentials.Retrieve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return [3]string{k.AccessKeyID, k.SecretAccessKey, k.SessionToken}
	}
	if _, err := readConfig(t.Context()); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("no keys: %v", err)
	}
	write("AWS_SHARED_CREDENTIALS_FILE", "[default]\naws_access_key_id = D\naws_secret_access_key=d=1\n"+
		"# a comment\n[team]\naws_access_key_id=T\naws_secret_access_key=t\naws_session_token=tt\n")
	write("AWS_CONFIG_FILE", "[default]\nregion = eu-west-1\n[profile team]\nregion=cn-north-1\nservices=x\n"+
		"s3 =\n  endpoint_url = https://nested\nendpoint_url=https://h:1/p\n[profile role]\nrole_arn=a\n"+
		`[profile program]`+"\n"+`credential_process = echo '{"Version":1,"AccessKeyId":"P","SecretAccessKey":"p"}'`+"\n")
	for _, want := range []struct {
		profile, region, endpoint string
		keys                      [3]string
	}{
		{"", "eu-west-1", "", [3]string{"D", "d=1", ""}},
		{"team", "cn-north-1", "https://h:1/p", [3]string{"T", "t", "tt"}},
		{"program", "us-east-1", "", [3]string{"P", "p"}},
	} {
		t.Setenv("AWS_PROFILE", want.profile)
		c, err := readConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := ""
		if c.endpoint != nil {
			at = c.endpoint.String()
		}
		if keysOf(c) != want.keys || c.region != want.region || at != want.endpoint {
			t.Errorf("profile %q: %+v %s", want.profile, *c, at)
		}
	}
	t.Setenv("AWS_PROFILE", "role")
	if _, err := readConfig(t.Context()); err == nil {
		t.Error("a profile without keys is taken")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "E")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "e")
	if c, err := readConfig(t.Context()); err != nil || keysOf(c) != [3]string{"E", "e"} {
		t.Errorf("keys of the environment: %v", err)
	}
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, dir)
			if _, err := readConfig(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("a folder: %v", err)
			}
		})
	}
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": "https://me:hush@host", "AWS_REGION": "a/hush",
		"AWS_SECRET_ACCESS_KEY": "hush\n"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := readConfig(t.Context()); err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("%v", err)
			}
		})
	}
}

func FuzzListing(f *testing.F) {
	f.Add([]byte("<x><EncodingType>url</EncodingType><Contents><Key>a%2B</Key><Size>3</Size></Contents></x>"))
	f.Add([]byte("<x><Contents><Key>%</Key></Contents><EncodingType>url</EncodingType></x>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := readListing("s3://bucket/f/", bytes.NewReader(body)); err != nil && len(err.Error()) > 200 {
			t.Errorf("%v", err)
		}
	})
}

func FuzzAddress(f *testing.F) {
	f.Add("s3://bucket/a b/c.csv")
	f.Fuzz(func(t *testing.T, address string) {
		bucket, key, err := split(address)
		if err != nil {
			return
		}
		u := (&client{config: config{region: "r"}}).urlOf(bucket, key)
		back, err := url.Parse(u.String())
		if err != nil || back.EscapedPath() != u.EscapedPath() || !strings.HasSuffix(back.Path, "/"+key) {
			t.Errorf("%q is asked for as %q: %v", address, u, err)
		}
	})
}
