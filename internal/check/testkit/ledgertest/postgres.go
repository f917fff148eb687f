// SPDX-License-Identifier: Apache-2.0

// Package ledgertest starts the databases that tests of the ledger need.
package ledgertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// Server is a PostgreSQL server of its own, without a network port, that is removed when the test
// ends.
type Server struct {
	folder string
	as     *syscall.SysProcAttr
	bin    string
	n      atomic.Int64
}

// Postgres starts a server. If none is installed (Debian: the package postgresql), or tests do not run
// at full size, it returns nil and the reason. Settings are PostgreSQL's defaults: fsync is on. The caller must call Stop.
func Postgres() (s *Server, why string, err error) {
	if !size.Long() {
		return nil, "full size only (DISCREET_LONG=1): tested on SQLite only", nil
	}
	bin := findBinaries()
	if bin == "" {
		return nil, "no PostgreSQL server here (Debian's package postgresql brings one): tested on SQLite only", nil
	}
	// Socket paths are limited to about 100 bytes, so not t.TempDir.
	folder, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, "", err
	}
	s = &Server{folder: folder, bin: bin}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if s.as = someoneElse(folder); s.as == nil {
			os.RemoveAll(folder)
			return nil, "PostgreSQL refuses to run as root and there is no other account to run it: tested on SQLite only", nil
		}
	}
	err = s.runProgram("initdb", "-D", s.dataFolder(), "-U", "discreet", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
	if err == nil {
		err = s.runProgram("pg_ctl", "-D", s.dataFolder(), "-w", "-t", "120", "-l", filepath.Join(folder, "log"), "-o",
			s.connectOptions(), "start")
	}
	if err != nil {
		os.RemoveAll(folder)
		return nil, "", err
	}
	return s, "", nil
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	return errors.Join(s.runProgram("pg_ctl", "-D", s.dataFolder(), "-m", "immediate", "stop"), os.RemoveAll(s.folder))
}

func (s *Server) connectOptions() string {
	return fmt.Sprintf("-c listen_addresses='' -c unix_socket_directories='%s' -c max_connections=200", s.folder)
}

func (s *Server) dataFolder() string { return filepath.Join(s.folder, "data") }

// Database returns the address of an empty database (in fact a new schema, which is quicker to
// create).
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("ledger%d", s.n.Add(1))
	if err := s.runProgram("psql", "-q", "-h", s.folder, "-U", "discreet", "-d", "postgres", "-c",
		"CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("postgres://discreet@/postgres?host=%s&search_path=%s", s.folder, name)
}

// Restart kills the server as a crash would, and starts it again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.runProgram("pg_ctl", "-D", s.dataFolder(), "-m", "immediate", "-w", "-t", "120", "-l",
		filepath.Join(s.folder, "log"), "-o", s.connectOptions(), "restart"); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) runProgram(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = s.folder, s.as
	var out bytes.Buffer
	if program != "pg_ctl" { // the server it leaves behind would hold the pipe
		cmd.Stdout, cmd.Stderr = &out, &out
	}
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.folder, "log"))
		return fmt.Errorf("%s: %w\n%s%s", program, err, out.Bytes(), log)
	}
	return nil
}

// findBinaries returns the folder of the newest server, "" if there is none.
func findBinaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl") // Debian keeps them out of PATH
	slices.Sort(found)
	if p, err := exec.LookPath("pg_ctl"); err == nil {
		found = append(found, p)
	}
	for _, p := range slices.Backward(found) {
		if p, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p)
		}
	}
	return ""
}

// someoneElse gives folder to an account that is allowed to run a server.
func someoneElse(folder string) *syscall.SysProcAttr {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil && os.Chown(folder, uid, gid) == nil {
			return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
	}
	return nil
}
