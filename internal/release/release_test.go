// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/discreet-dp/discreet/internal/ground/keyfile"
)

var (
	ours    = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	theirs  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	trusted = Trusted{public(theirs), public(ours)}
	files   = []File{{StatementName, []byte("epsilon = 1\n")}, {ModelName, []byte("{}\n")}, {CardName, []byte("<p>1")}}
	said    = map[string]string{"program": "discreet <test> & co"}
)

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func write(t testing.TB, files []File, by ed25519.PrivateKey) []byte {
	t.Helper()
	archive, err := Write(files, said, by)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	archive := write(t, files, ours)
	if again := write(t, files, ours); !bytes.Equal(again, archive) {
		t.Error("the same files give another archive")
	}
	r, err := Open(archive, trusted)
	if err != nil || !bytes.Equal(r.Signer, public(ours)) || len(r.Files) != len(files) ||
		string(r.File(CardName)) != "<p>1" || r.File(LedgerName) != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	var got map[string]string
	if err := r.DecodePredicate(&got); err != nil || got["program"] != said["program"] {
		t.Errorf("%v, %v", got, err)
	}
	if r, err := Open(archive, nil); err != nil || r.Signer != nil {
		t.Errorf("without keys: %+v, %v", r, err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive))) // as others read it
	if err != nil || len(z.File) != 1+len(files) {
		t.Errorf("%v", err)
	}
	for _, bad := range [][]File{{{"extra", nil}}, {{AttestationName, nil}}, {files[0], files[0]}} {
		if _, err := Write(bad, said, ours); err == nil {
			t.Errorf("written: %v", bad)
		}
	}
}

// TestNoByteCanBeAnother: no bit of an archive can be changed, no byte cut off, added or doubled.
func TestNoByteCanBeAnother(t *testing.T) {
	archive := write(t, files, ours)
	for i := range archive {
		for bit := range 8 {
			bad := bytes.Clone(archive)
			bad[i] ^= 1 << bit
			if _, err := Open(bad, trusted); err == nil {
				t.Fatalf("bit %d of byte %d can be changed", bit, i)
			}
		}
		if _, err := Open(archive[:i], trusted); err == nil {
			t.Fatalf("it can be cut to %d bytes", i)
		}
		if _, err := Open(append(bytes.Clone(archive[:i+1]), archive[i:]...), trusted); err == nil {
			t.Fatalf("byte %d can be doubled", i)
		}
	}
}

// entry is a file of a ZIP that no release is.
type entry struct {
	zip.FileHeader
	data []byte
}

// loose writes a ZIP as others do.
func loose(t testing.TB, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		if strings.HasSuffix(e.Name, "/") {
			e.data = nil
		}
		if e.Method == zip.Store && e.UncompressedSize64 == 0 {
			e.CRC32, e.UncompressedSize64, e.CompressedSize64 = crc32.ChecksumIEEE(e.data), uint64(len(e.data)), uint64(len(e.data))
		}
		f, err := w.CreateRaw(&e.FileHeader)
		if err == nil {
			_, err = f.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entriesOf are the files of an archive.
func entriesOf(t testing.TB, archive []byte) (entries []entry) {
	t.Helper()
	all, err := unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		entries = append(entries, entry{zip.FileHeader{Name: f.Name, ReaderVersion: 20, CreatorVersion: 20}, f.Data})
	}
	return entries
}

// resign changes the envelope of an archive.
func resign(t testing.TB, archive []byte, change func(e *dsse.Envelope)) []byte {
	t.Helper()
	all, err := unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Name == AttestationName {
			e := new(dsse.Envelope)
			if err := json.Unmarshal(all[i].Data, e); err != nil {
				t.Fatal(err)
			}
			change(e)
			if all[i].Data, err = encode(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := pack(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sign signs a payload as the holder of a key may.
func sign(t testing.TB, archive []byte, payloadType, payload string, by ed25519.PrivateKey) []byte {
	t.Helper()
	return resign(t, archive, func(e *dsse.Envelope) {
		e.PayloadType, e.Payload = payloadType, base64.StdEncoding.EncodeToString([]byte(payload))
		e.Signatures = []dsse.Signature{{KeyID: keyfile.ID(public(by)),
			Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(by, dsse.PAE(payloadType, []byte(payload))))}}
	})
}

// TestForgeries: each kind of forgery is refused by its name.
func TestForgeries(t *testing.T) {
	good := write(t, files, ours)
	other := write(t, []File{{StatementName, []byte("epsilon = 9\n")}, files[1], files[2]}, ours)
	changed := func(change func(all []entry) []entry) func() []byte {
		return func() []byte { return loose(t, change(entriesOf(t, good))) }
	}
	envelope := func(change func(e *dsse.Envelope)) func() []byte {
		return func() []byte { return resign(t, good, change) }
	}
	statementOf := func(change func(payload string) string) func() []byte {
		return func() []byte {
			var payload string
			resign(t, good, func(e *dsse.Envelope) {
				b, err := e.DecodeB64Payload()
				if err != nil {
					t.Fatal(err)
				}
				payload = string(b)
			})
			return sign(t, good, PayloadType, change(payload), ours)
		}
	}
	renamed := func(name string) func() []byte {
		return changed(func(all []entry) []entry { all[1].Name = name; return all })
	}
	mode := func(m fs.FileMode) func() []byte {
		return changed(func(all []entry) []entry { all[1].SetMode(m); return all })
	}
	replaced := func(at int, data string) func() []byte {
		return func() []byte {
			all, err := unpack(good)
			if err != nil {
				t.Fatal(err)
			}
			all[at].Data = []byte(data)
			out, err := pack(all)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	unknown := "its name is another"
	form := "as discreet release writes it"
	for name, f := range map[string]struct {
		forge func() []byte
		want  string
	}{
		"swapped card":          {replaced(1, "<p>2"), `"card.html" must be the one that was attested`},
		"raised epsilon":        {replaced(3, "epsilon = 9\n"), `"statement.txt" must be the one that was attested`},
		"other model":           {replaced(2, "{ }\n"), `"model.json" must be the one that was attested`},
		"truncated":             {func() []byte { return good[:len(good)-30] }, "cut short"},
		"only the beginning":    {func() []byte { return good[:100] }, "cut short"},
		"no archive":            {func() []byte { return []byte("{}") }, "must be an archive"},
		"empty":                 {func() []byte { return nil }, "must be an archive"},
		"no files":              {func() []byte { return loose(t, nil) }, "must be an archive"},
		"a link":                {mode(fs.ModeSymlink | 0o777), "is a link"},
		"a folder":              {mode(fs.ModeDir | 0o777), "plain file"},
		"a device":              {mode(fs.ModeDevice | 0o777), "plain file"},
		"a file that runs":      {mode(0o755), form},
		"out of the folder":     {renamed("../model.json"), unknown},
		"an absolute path":      {renamed("/etc/passwd"), unknown},
		"a path of Windows":     {renamed(`..\model.json`), unknown},
		"in a folder":           {renamed("a/model.json"), unknown},
		"a folder's name":       {renamed("model.json/"), unknown},
		"capital letters":       {renamed("Card.html"), unknown},
		"an unknown file":       {renamed("run.sh"), unknown},
		"a name with a zero":    {renamed("card.html\x00"), unknown},
		"two files of one name": {changed(func(all []entry) []entry { return append(all[:2], all[1:]...) }), "two files of one name"},
		"two of one name, apart": {changed(func(all []entry) []entry { return append(all, all[1]) }),
			"order of their names"},
		"another order": {changed(func(all []entry) []entry { all[1], all[2] = all[2], all[1]; return all }), "order of their names"},
		"a file more": {changed(func(all []entry) []entry {
			return append(all[:1:1], append([]entry{{zip.FileHeader{Name: AuditName}, []byte("{}")}}, all[1:]...)...)
		}), form},
		"a file more, in form": {func() []byte {
			all, err := unpack(good)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, File{AuditName, []byte("{}")})
			sortFiles(all)
			out, err := pack(all)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}, `"audit.json" must be one that the attestation lists`},
		"a file less": {func() []byte {
			all, err := unpack(good)
			if err != nil {
				t.Fatal(err)
			}
			out, err := pack(append(all[:1], all[2:]...))
			if err != nil {
				t.Fatal(err)
			}
			return out
		}, `"card.html" must be in the archive`},
		"no attestation": {func() []byte {
			all, err := unpack(good)
			if err != nil {
				t.Fatal(err)
			}
			out, err := pack(all[1:])
			if err != nil {
				t.Fatal(err)
			}
			return out
		}, "must have an attestation.json"},
		"a huge size": {changed(func(all []entry) []entry {
			all[1].UncompressedSize64, all[1].CompressedSize64 = 1<<40, 1<<40
			return all
		}), "size of"},
		"a size that is not stored": {changed(func(all []entry) []entry {
			all[1].UncompressedSize64, all[1].CompressedSize64 = 900, 4
			return all
		}), "size of"},
		"compressed":       {changed(func(all []entry) []entry { all[1].Method = zip.Deflate; return all }), "must not be compressed"},
		"encrypted":        {changed(func(all []entry) []entry { all[1].Flags = 1; return all }), "must not be encrypted"},
		"a damaged file":   {func() []byte { return bytes.Replace(good, []byte("<p>1"), []byte("<p>2"), 1) }, "damaged"},
		"more in a field":  {changed(func(all []entry) []entry { all[1].Extra = []byte("abcd"); return all }), form},
		"a comment":        {changed(func(all []entry) []entry { all[1].Comment = "trust me"; return all }), form},
		"a time":           {changed(func(all []entry) []entry { all[1].ModifiedTime = 7; return all }), form},
		"bytes before":     {func() []byte { return append([]byte("PK\x03\x04 go"), good...) }, form},
		"bytes after":      {func() []byte { return append(bytes.Clone(good), "go"...) }, form},
		"a second archive": {func() []byte { return append(bytes.Clone(good), other...) }, form},
		"other key":        {func() []byte { return write(t, files, ed25519.NewKeyFromSeed(make([]byte, 32))) }, "it names another"},
		"other key, our name": {envelope(func(e *dsse.Envelope) {
			payload, _ := e.DecodeB64Payload()
			e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(ed25519.Sign(theirs, dsse.PAE(e.PayloadType, payload)))
		}), "that of the key that it names"},
		"trusted key, another's name": {envelope(func(e *dsse.Envelope) { e.Signatures[0].KeyID = keyfile.ID(public(theirs)) }),
			"that of the key that it names"},
		"no name":             {envelope(func(e *dsse.Envelope) { e.Signatures[0].KeyID = "" }), "it names another"},
		"altered payload":     {envelope(func(e *dsse.Envelope) { e.Payload = e.Payload[:8] + "A" + e.Payload[9:] }), "that of the key that it names"},
		"altered type":        {envelope(func(e *dsse.Envelope) { e.PayloadType = "text/plain" }), "payload must have the type"},
		"signed altered type": {func() []byte { return sign(t, good, "text/plain", "{}", ours) }, "payload must have the type"},
		"no signature":        {envelope(func(e *dsse.Envelope) { e.Signatures = nil }), "must have a signature"},
		"an empty signature":  {envelope(func(e *dsse.Envelope) { e.Signatures[0].Sig = "" }), "must be 64 bytes"},
		"two signatures":      {envelope(func(e *dsse.Envelope) { e.Signatures = append(e.Signatures, e.Signatures[0]) }), "must have one signature"},
		"two signers": {envelope(func(e *dsse.Envelope) {
			payload, _ := e.DecodeB64Payload()
			e.Signatures = append(e.Signatures, dsse.Signature{KeyID: keyfile.ID(public(theirs)),
				Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(theirs, dsse.PAE(e.PayloadType, payload)))})
		}), "must have one signature"},
		"old signature": {envelope(func(e *dsse.Envelope) {
			resign(t, other, func(old *dsse.Envelope) { e.Signatures = old.Signatures })
		}), "that of the key that it names"},
		"old attestation": {envelope(func(e *dsse.Envelope) {
			resign(t, other, func(old *dsse.Envelope) { *e = *old })
		}), `"statement.txt" must be the one that was attested`},
		"base64 for the web": {envelope(func(e *dsse.Envelope) {
			sig, _ := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
			e.Signatures[0].Sig = base64.URLEncoding.EncodeToString(sig)
		}), "64 bytes in base64"},
		"base64 in lines":           {envelope(func(e *dsse.Envelope) { e.Payload = e.Payload[:8] + "\n" + e.Payload[8:] }), "base64"},
		"no envelope":               {replaced(0, "{}"), "DSSE envelope"},
		"an envelope with more":     {replaced(0, `{"payloadType":"","payload":"","signatures":[],"x":1}`+"\n"), "DSSE envelope"},
		"the wrong kind of payload": {statementOf(func(string) string { return "[]" }), "Statement of in-toto"},
		"another predicate": {statementOf(func(s string) string { return strings.Replace(s, PredicateType, PredicateType+"0", 1) }),
			"about a release"},
		"an older Statement": {statementOf(func(s string) string { return strings.Replace(s, "Statement/v1", "Statement/v0.1", 1) }),
			"about a release"},
		"another spelling": {statementOf(func(s string) string { return " " + s }), "Statement of in-toto"},
		"a digest twice": {statementOf(func(s string) string {
			return strings.Replace(s, `"sha256":`, `"sha256":"","sha256":`, 1)
		}), "Statement of in-toto"},
		"a digest of less": {statementOf(func(s string) string {
			return strings.Replace(s, `"subject":[{"name":"card.html","digest":{"sha256":"`, `"subject":[{"name":"card.html","digest":{"sha256":"00`, 1)
		}), "Statement of in-toto"},
		"a subject twice": {statementOf(func(s string) string {
			one := s[strings.Index(s, `{"name"`):strings.Index(s, `,{"name":"model`)]
			return strings.Replace(s, one, one+","+one, 1)
		}), "lists \"card.html\" twice"},
		"an unknown subject": {statementOf(func(s string) string { return strings.Replace(s, `"card.html"`, `"x"`, 1) }),
			"files that a release may hold"},
	} {
		if _, err := Open(f.forge(), trusted); err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: must be refused with %q, got %v", name, f.want, err)
		}
	}
	if _, err := Open(good, trusted); err != nil {
		t.Errorf("what is not forged is refused: %v", err)
	}
}

// TestSignaturesAreDemanded: who demands a signature gets no model without it, and who does
// not gets no damaged one.
func TestSignaturesAreDemanded(t *testing.T) {
	good, model := write(t, files, ours), []byte("{}\n")
	damaged := bytes.Replace(good, []byte("<p>1"), []byte("<p>2"), 1)
	for name, c := range map[string]struct {
		by   Trusted
		file []byte
		ok   bool
	}{
		"model": {nil, model, true}, "release": {nil, good, true}, "damaged release": {nil, damaged, false},
		"model to who demands": {trusted, model, false}, "release to who demands": {trusted, good, true},
		"damaged release to who demands":   {trusted, damaged, false},
		"release of another":               {trusted[:1], good, false},
		"release without a model":          {trusted, write(t, files[:1], ours), false},
		"release without a model, to all":  {nil, write(t, files[:1], ours), false},
		"release to who trusts no one yet": {Trusted{}, good, false},
	} {
		if got, err := c.by.ModelIn(c.file); (err == nil) != c.ok || c.ok && !bytes.Equal(got, model) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	dir := t.TempDir()
	if _, err := trusted.LoadModel(filepath.Join(dir, "none")); err == nil {
		t.Error("no file is loaded")
	}
	for name, file := range map[string][]byte{"m.zip": good, "d.zip": damaged} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := trusted.LoadModel(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpen: an archive that is opened is one that the holder of the key wrote.
func FuzzOpen(f *testing.F) {
	var written [][]byte
	for _, list := range [][]File{files, files[:1], {{ModelName, nil}}} {
		archive := write(f, list, ours)
		written = append(written, archive)
		f.Add(archive)
	}
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		r, err := Open(archive, trusted)
		if err != nil {
			if _, err := Open(archive, nil); err == nil && !IsArchive(archive) {
				t.Error("no archive, and read")
			}
			return
		}
		for _, one := range written {
			if bytes.Equal(one, archive) {
				return
			}
		}
		t.Errorf("opened and not written: %s", fmt.Sprint(r.Files))
	})
}

// FuzzStatement: a statement that is read has one spelling.
func FuzzStatement(f *testing.F) {
	e, payload, err := readEnvelope(entriesOf(f, write(f, files, ours))[0].data)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add([]byte(e.Payload))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := readStatement(text)
		if err != nil {
			return
		}
		if again, err := encode(s); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q is also spelt %q (%v)", text, again, err)
		}
		_ = s.checkDigests(files)
	})
}
