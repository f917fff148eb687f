// SPDX-License-Identifier: Apache-2.0

// Package nettest puts an unreliable network between a service and its callers: bytes are delayed and
// split, connections are closed or reset, and the server behind it may change at any moment.
package nettest

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Faults are the faults of connections. The zero Faults forwards everything unchanged.
type Faults struct {
	// Slice is the largest size of a piece in bytes, Late the longest delay of one.
	Slice int
	Late  time.Duration
	// Cut is the probability that a connection is cut after 1 to Pieces pieces: half of them are
	// closed and half are reset, each in the middle of a piece.
	Cut    float64
	Pieces int
	// Cuts is the largest number of connections to cut; 0: no limit.
	Cuts int
}

// Network forwards TCP connections from its own address to a server, like a load balancer.
type Network struct {
	listener net.Listener
	faults   Faults

	mu    sync.Mutex
	rand  *rand.Rand
	to    func() string
	conns map[net.Conn]bool
	cuts  int
	carry sync.WaitGroup
}

// New starts to forward connections to the address that to returns; "" means to no server. Its faults
// are drawn from the seed.
func New(to func() string, seed uint64, f Faults) (*Network, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &Network{listener: l, faults: f, rand: rand.New(rand.NewPCG(seed, seed)), to: to, conns: map[net.Conn]bool{}}
	n.carry.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			n.carry.Go(func() { n.relayConnection(in) })
		}
	})
	return n, nil
}

// Address returns the address for callers, host:port.
func (n *Network) Address() string { return n.listener.Addr().String() }

// Cuts returns the number of connections that were cut by faults.
func (n *Network) Cuts() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cuts
}

// Drop cuts all current connections.
func (n *Network) Drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Close()
	}
}

// Close stops the network and waits for its connections.
func (n *Network) Close() error {
	err := n.listener.Close()
	n.Drop()
	n.carry.Wait()
	return err
}

func (n *Network) relayConnection(in net.Conn) {
	defer in.Close()
	to := n.to()
	if to == "" {
		return
	}
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	n.mu.Lock()
	n.conns[in], n.conns[out] = true, true
	n.mu.Unlock()
	pieces, reset := n.drawFate()
	var back sync.WaitGroup
	back.Go(func() { n.copyPieces(in, out, 0, false) })
	n.copyPieces(out, in, pieces, reset)
	back.Wait()
	n.mu.Lock()
	delete(n.conns, in)
	delete(n.conns, out)
	n.mu.Unlock()
}

// drawFate draws after how many pieces a connection is cut, and how; 0: never.
func (n *Network) drawFate() (pieces int, reset bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.faults.Cut == 0 || n.rand.Float64() >= n.faults.Cut || n.faults.Cuts > 0 && n.cuts == n.faults.Cuts {
		return 0, false
	}
	n.cuts++
	return 1 + n.rand.IntN(n.faults.Pieces), n.rand.IntN(2) == 0
}

// drawPiece draws the size and the delay of the next piece.
func (n *Network) drawPiece() (size int, late time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	size = whole
	if n.faults.Slice > 0 {
		size = 1 + n.rand.IntN(n.faults.Slice)
	}
	if n.faults.Late > 0 {
		late = time.Duration(n.rand.Int64N(int64(n.faults.Late)))
	}
	return size, late
}

// whole is the size of a piece on a network without faults.
const whole = 1 << 15

// copyPieces forwards from one end to the other until one of them ends, or the connection is cut.
func (n *Network) copyPieces(to, from net.Conn, pieces int, reset bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, max(whole, n.faults.Slice))
	for i := 1; ; i++ {
		size, late := n.drawPiece()
		got, err := from.Read(buf[:size])
		if got == 0 && err != nil {
			return
		}
		if late > 0 {
			time.Sleep(late)
		}
		if i == pieces {
			if c, ok := to.(*net.TCPConn); ok && reset {
				_ = c.SetLinger(0) // what is under way is lost, and a reset says so
			}
			got /= 2
		}
		if _, werr := to.Write(buf[:got]); werr != nil || err != nil && err != io.EOF || i == pieces {
			return
		}
	}
}
