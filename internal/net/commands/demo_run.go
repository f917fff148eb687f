// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// demoService is a process that runs until the demo ends.
type demoService struct {
	process *exec.Cmd
	ended   chan struct{}
}

// say notes in the script who does what next, and says it.
func (d *demo) say(what string) {
	d.script.WriteString("\n# " + what + "\n")
	d.Say("%s", what)
}

// scriptWidth is about how wide lines of the script are.
const scriptWidth = 110

// note adds a command to the script.
func (d *demo) note(args []string, tail string) {
	line := "discreet-net"
	for i, arg := range args {
		word := commands.ShellWord(arg)
		if more := args[i:]; strings.HasPrefix(arg, "--") && len(more) > 1 && len(line)+len(word)+len(more[1]) > scriptWidth {
			d.script.WriteString(line + " \\\n")
			line = " "
		}
		line += " " + word
	}
	d.script.WriteString(line + tail + "\n")
}

// command is this program, in the demo's folder, with no settings of its surroundings.
func (d *demo) command(ctx context.Context, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Args[0] = os.Args[0] // by which a test's program knows what it is
	c.Dir = d.save
	for _, set := range d.Env {
		if !strings.HasPrefix(set, "DISCREET_") {
			c.Env = append(c.Env, set)
		}
	}
	return c, nil
}

// run runs a command to its end and returns what it printed.
func (d *demo) run(ctx context.Context, args ...string) (string, error) {
	return d.runInto(ctx, "", args...)
}

// runInto is run that also writes what the command printed to a file, unless that is "".
func (d *demo) runInto(ctx context.Context, file string, args ...string) (string, error) {
	tail := ""
	if file != "" {
		tail = " > " + file
	}
	d.note(args, tail)
	c, err := d.command(ctx, args)
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		_, _ = d.Stderr.Write(said.Bytes())
		return "", fmt.Errorf("demo: %s %s failed, as it says above", args[0], args[1])
	}
	if file != "" {
		err = d.write(file, out.String())
	}
	return out.String(), err
}

// freeAddresses returns addresses of this machine at which nobody listens.
func freeAddresses(ctx context.Context, n int) (addresses []string, err error) {
	for range n {
		l, failed := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, l.Close()) }() // after all have been found, so that no two are the same
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// start runs a service at an address and waits until it listens.
func (d *demo) start(ctx context.Context, name, address string, args ...string) error {
	args = append(args, "--listen", address)
	d.note(args, " &")
	c, err := d.command(context.WithoutCancel(ctx), args)
	if err != nil {
		return err
	}
	log, err := os.Create(d.path(name + ".log"))
	if err != nil {
		return err
	}
	c.Stdout, c.Stderr = log, log
	if err := errors.Join(c.Start(), log.Close()); err != nil {
		return err
	}
	s := &demoService{process: c, ended: make(chan struct{})}
	d.services = append(d.services, s)
	go func() {
		_ = c.Wait() // the log says why
		close(s.ended)
	}()
	for {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", address); err == nil {
			return conn.Close()
		}
		select {
		case <-s.ended:
			said, err := openfile.Read(d.path(name + ".log"))
			_, _ = d.Stderr.Write(said)
			return errors.Join(fmt.Errorf("demo: the service of %s did not start, as it says above", name), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends all services and writes the script.
func (d *demo) stop() error {
	for _, s := range d.services {
		if runtime.GOOS == "windows" || errors.Is(s.process.Process.Signal(os.Interrupt), os.ErrProcessDone) {
			_ = s.process.Process.Kill()
		}
	}
	for _, s := range d.services {
		<-s.ended
	}
	return d.write("commands.sh", d.script.String())
}
