// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheLogIsTold once of each renewal and each fault, and every hour of an end that
// draws near.
func TestTheLogIsTold(t *testing.T) {
	dir, begin := t.TempDir(), time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a, err := NewAuthority(begin, 1000*time.Hour)
	must(err)
	must(a.Save(dir))
	who := Caller{Owner, "o"}
	id, err := a.Issue(who, nil, begin, 100*time.Hour)
	must(err)
	must(id.Save(dir))
	id, err = Load(dir, who)
	must(err)
	var log bytes.Buffer
	w := watch{Identity: id, log: slog.New(slog.NewTextHandler(&log, nil)), known: id.currentFiles()}
	told := func(after time.Duration, words ...string) {
		t.Helper()
		log.Reset()
		w.look(begin.Add(after))
		if n := strings.Count(log.String(), "\n"); n != len(words) {
			t.Errorf("after %s the log has %d lines, want %d:\n%s", after, n, len(words), &log)
		}
		for _, word := range words {
			if !strings.Contains(log.String(), word) {
				t.Errorf("after %s the log lacks %q:\n%s", after, word, &log)
			}
		}
	}
	told(0)
	told(74 * time.Hour)
	told(75*time.Hour, "the certificate expires soon")
	told(75*time.Hour + 59*time.Minute)
	told(76*time.Hour, "the certificate expires soon")
	_, err = a.Renew(dir, who, begin, 400*time.Hour)
	must(err)
	told(76*time.Hour, "read again")
	told(77 * time.Hour)
	must(os.WriteFile(filepath.Join(dir, "crl.pem"), []byte("no list"), 0o600))
	told(78*time.Hour, "could not be read")
	told(79 * time.Hour)
	_, err = a.Revoke(dir, nil, begin, 100*time.Hour)
	if err == nil {
		t.Error("a list was added to what is none")
	}
	must(os.Remove(filepath.Join(dir, "crl.pem")))
	_, err = a.Revoke(dir, nil, begin, 100*time.Hour)
	must(err)
	told(74*time.Hour, "read again")
	told(75*time.Hour, "list of revoked certificates ends soon")
}

// FuzzList: no bytes are a list of an authority that did not sign them.
func FuzzList(f *testing.F) {
	dir := f.TempDir()
	begin := time.Now()
	a, err := NewAuthority(begin, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := a.Revoke(dir, nil, begin, time.Hour); err != nil {
		f.Fatal(err)
	}
	ders, err := readBlocks(filepath.Join(dir, listName), listType)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ders[0])
	f.Fuzz(func(t *testing.T, der []byte) {
		l, err := readList(der, []*x509.Certificate{a.cert})
		if err == nil && !bytes.Equal(der, ders[0]) {
			t.Errorf("taken for a list that ends at %s", l.ends)
		}
	})
}
