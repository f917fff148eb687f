// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

// TestLoad times single rows over HTTP, asked by this process and answered by another,
// for the time in DISCREET_LOAD_SERVE, over 16 connections: make load-serve. It reports
// and judges nothing.
func TestLoad(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("DISCREET_LOAD_SERVE"))
	if err != nil {
		t.Skip("needs DISCREET_LOAD_SERVE, how long: make load-serve")
	}
	const connections = 16
	s, dir := newServer(t, nil, "v3-log-odds")
	m := s.models[0].now.Load()
	body := bodyOf(t, m, rowsOf(m, 1))
	address, status := startServer(t, dir, "v3-log-odds")
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	resident := func() string { return fmt.Sprintf("%d kB", status("VmRSS")) }
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	begin := time.Now()
	memory := ""
	for range connections {
		wg.Go(func() {
			var own []time.Duration
			for time.Since(begin) < lasts {
				from := time.Now()
				r, err := client.Post("http://"+address+"/v2/models/v3-log-odds/infer", "application/json",
					bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				if r.StatusCode != http.StatusOK {
					t.Errorf("status %d", r.StatusCode)
					return
				}
				own = append(own, time.Since(from))
				if len(own) == 1000 {
					mu.Lock()
					memory = resident()
					mu.Unlock()
				}
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatal("nothing was answered")
	}
	average, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d single rows in %v: %.0f a second; median %v, 99 %% within %v; memory %s early, %s at the end; load %s",
		len(took), lasts, float64(len(took))/lasts.Seconds(), took[len(took)/2], took[len(took)*99/100], memory, resident(),
		strings.TrimSpace(string(average)))
}

// startServer builds the command and serves a model of the folder in a process of its own
// until the test ends. status reads a line of what the kernel counts of it, in kB.
func startServer(t *testing.T, dir, name string, flags ...string) (address string, status func(line string) int) {
	t.Helper()
	bin := filepath.Join(dir, "discreet")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../../cmd/discreet")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	server := exec.CommandContext(t.Context(), bin, append([]string{"serve", "--model", filepath.Join(dir, name+".json"),
		"--listen", address}, flags...)...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // the test's context has ended it
	for {
		r, err := http.Get("http://" + address + "/v2/health/ready")
		if err == nil {
			r.Body.Close()
			break
		}
	}
	return address, func(line string) (kB int) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), line+":")
		_, _ = fmt.Sscan(after, &kB)
		return kB
	}
}

// TestHostileLoad sends another process a hundred calls at once that try to become large,
// of each kind, by one token, while another token asks about single rows. The process's
// memory must grow by no more than --memory, and every single row be answered.
func TestHostileLoad(t *testing.T) {
	if os.Getenv("DISCREET_LOAD_SERVE") == "" {
		t.Skip("needs DISCREET_LOAD_SERVE: make load-serve")
	}
	s, dir := newServer(t, nil, "v3-log-odds")
	m := s.models[0].now.Load()
	writeFile(t, filepath.Join(dir, "tokens"), []byte(tokenA+"\n"+tokenB+"\n"))
	address, status := startServer(t, dir, "v3-log-odds", "--tokens", filepath.Join(dir, "tokens"))
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	plain, h2 := &http.Transport{MaxIdleConnsPerHost: 100}, &http.Transport{Protocols: protocols}
	defer plain.CloseIdleConnections()
	defer h2.CloseIdleConnections()
	send := func(by http.RoundTripper, token, path string, body io.Reader, header ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, body)
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("Authorization", "Bearer "+token)
		for k := 0; k < len(header); k += 2 {
			r.Header.Set(header[k], header[k+1])
		}
		answer, err := by.RoundTrip(r)
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 256 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	const rest = "/v2/models/v3-log-odds/infer"
	const call = "/" + oip.GRPCInferenceServiceName + "/ModelInfer"
	const size = 4_180_000
	var kinds []request
	for _, q := range hostile(m, size) {
		switch q.what {
		case "numbers", "texts of no stated length", "inputs", "packed truth values over gRPC", "empty texts over gRPC",
			"empty texts over Connect", "inputs over gRPC":
			kinds = append(kinds, q)
		}
	}
	for _, q := range honest(t, m, 10_000) {
		q.what = "honest " + q.what
		kinds = append(kinds, q)
	}
	kinds = append(kinds,
		request{what: "bomb", path: rest, body: bomb.Bytes(), header: []string{"Content-Encoding", "gzip"}},
		request{what: "bomb over gRPC", path: call, body: append(binary.BigEndian.AppendUint32([]byte{1}, uint32(bomb.Len())),
			bomb.Bytes()...), header: []string{"Content-Type", "application/grpc", "Grpc-Encoding", "gzip"}})
	base := status("VmHWM")
	row := bodyOf(t, m, rowsOf(m, 1))
	ask := func(until <-chan struct{}) (took []time.Duration) {
		for {
			from := time.Now()
			if code := send(plain, tokenB, rest, bytes.NewReader(row)); code != http.StatusOK {
				t.Errorf("a single row of another token: status %d", code)
				return took
			}
			took = append(took, time.Since(from))
			select {
			case <-until:
				slices.Sort(took)
				return took
			default:
			}
		}
	}
	for _, q := range kinds {
		done := make(chan struct{})
		var mu sync.Mutex
		codes := map[int]int{}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				by := http.RoundTripper(plain)
				if strings.HasSuffix(q.what, "gRPC") {
					by = h2
				}
				body := io.Reader(bytes.NewReader(q.body))
				if q.unstated {
					body = io.MultiReader(body)
				}
				code := send(by, tokenA, q.path, body, q.header...)
				mu.Lock()
				codes[code]++
				mu.Unlock()
			})
		}
		go func() {
			wg.Wait()
			close(done)
		}()
		took := ask(done)
		if len(took) > 0 {
			t.Logf("100 of %q, %d bytes: statuses %v; %d single rows meanwhile, half within %v, 99 %% within %v; "+
				"memory %d MB, %d at most", q.what, len(q.body), codes, len(took), took[len(took)/2],
				took[len(took)*99/100], status("VmRSS")>>10, status("VmHWM")>>10)
		}
	}
	average, _ := os.ReadFile("/proc/loadavg")
	grown := status("VmHWM") - base
	t.Logf("memory grew from %d to %d MB; load %s", base>>10, status("VmHWM")>>10, strings.TrimSpace(string(average)))
	if int64(grown)<<10 > DefaultOptions().Memory {
		t.Errorf("memory grew by %d kB, more than %d bytes", grown, DefaultOptions().Memory)
	}
}
