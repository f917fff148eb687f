// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"context"
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
	bin := filepath.Join(dir, "discreet")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../../cmd/discreet")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ctx, stop := context.WithCancel(t.Context())
	server := exec.CommandContext(ctx, bin, "serve", "--model", filepath.Join(dir, "v3-log-odds.json"),
		"--listen", address)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = server.Wait()
	}()
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for {
		r, err := client.Get("http://" + address + "/v2/health/ready")
		if err == nil {
			r.Body.Close()
			break
		}
	}
	resident := func() string {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.Process.Pid))
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		line, _, _ := strings.Cut(after, "\n")
		return strings.TrimSpace(line)
	}
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
