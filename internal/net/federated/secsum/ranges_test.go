// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/federated/flp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// provenTask is a task of n holders whose owners prove their ranges.
func provenTask(round string, holders int) Task {
	return Task{Round: round, Owners: 5, AtLeast: 4, Holders: holders, Length: 30, Range: 49153, Proven: true}
}

// splitDigits makes an owner's shares of these digits, proven as well as they can be.
func splitDigits(t *testing.T, p *Protocol, owner int, digits []flp.Scalar) (out []Message) {
	t.Helper()
	shares, err := p.shamir.ranges().split(replay.Seeded(33, "digits"), owner, digits)
	if err != nil {
		t.Fatal(err)
	}
	for h, b := range shares {
		out = append(out, Message{p.tag, Share, owner, h, b})
	}
	return out
}

// field is a number of the field, below 0 too, or 1/2.
func field(n int) flp.Scalar {
	var z, zero flp.Scalar
	if z = smallScalar(uint64(max(n, -n))); n < 0 {
		z.Sub(&zero, &z)
	}
	return z
}

func half() flp.Scalar {
	z := field(2)
	z.Inv(&z)
	return z
}

// TestProvenSumsAreExact: what is proven is summed as it was, at the ends of the range
// too, whoever falls silent.
func TestProvenSumsAreExact(t *testing.T) {
	for _, holders := range []int{3, 4, 7} {
		task := provenTask("proven", holders)
		p := protocol(t, Shamir, task)
		values := vectors(replay.Seeded(2, "proven"), task)
		c, err := carry(t, p, values, drops{ownersMidway: []int{1}, holdersAfter: []int{holders - 1}})
		if err != nil {
			t.Fatalf("of %d holders: %v", holders, err)
		}
		exact(t, c, values, 1)
	}
}

// TestOutOfRangeIsLeftOut: an owner of five shares numbers out of range, consistently: a
// single coordinate by one, below zero, by half the field, or all of them, and proves
// what it can. Enough holders convict it, and the sum is that of the others. Without
// proofs it is a deviation of no one in particular.
func TestOutOfRangeIsLeftOut(t *testing.T) {
	for _, holders := range []int{3, 5} {
		task := provenTask("out of range", holders)
		p := protocol(t, Shamir, task)
		r := p.shamir.ranges()
		values := vectors(replay.Seeded(4, "out of range"), task)
		per := r.circuit.Inputs() / task.Length
		for _, at := range []int{0, 13, task.Length - 1} {
			for name, wrong := range map[string]flp.Scalar{"one beyond": field(16), "below zero": field(-1), "half": half(),
				"anything": drawScalars(replay.Seeded(5, "any"), 1)[0]} {
				t.Run(fmt.Sprintf("%d of %d, %s", at, holders, name), func(t *testing.T) {
					digits := r.circuit.Encode(values[2])
					for i := range per { // the largest number there is, so that one beyond is out of range
						digits[at*per+i] = r.circuit.Encode(slices.Repeat([]uint64{task.Range - 1}, task.Length))[i]
					}
					digits[at*per] = wrong
					all := fresh(t, p)
					convicted := 0
					for o, v := range values {
						shares := splitDigits(t, p, o, r.circuit.Encode(v))
						if o == 2 {
							shares = splitDigits(t, p, o, digits)
						}
						for i, err := range hand(t, p, all, shares) {
							switch {
							case o == 2 && errors.Is(err, ErrOutOfRange) && errors.Is(err, ErrInconsistent) && errors.Is(err, ErrRefused):
								convicted++
							case err != nil:
								t.Fatalf("owner %d, holder %d: %v", o, i, err)
							}
						}
					}
					if convicted < holders-p.Quorum()+1 {
						t.Fatalf("%d of %d holders convict the owner", convicted, holders)
					}
					exact(t, finish(t, p, all, nil), values, 2)
				})
			}
		}
	}
}

// TestDigitsAreTheNumbers: an owner proves what is true of digits that are not those of the
// numbers it shares, at all holders or at one; or shares a digit by points that are on no
// polynomial, beside another that makes up for it in the number. It is convicted.
func TestDigitsAreTheNumbers(t *testing.T) {
	task := provenTask("digits", 5)
	p := protocol(t, Shamir, task)
	r := p.shamir.ranges()
	src := replay.Seeded(10, "digits")
	one, weight := field(1), smallScalar(flp.DigitsFor(task.Range)[0].Weight)
	for name, bend := range map[string]func(holder int, numbers, digits []flp.Scalar){
		"other numbers":       func(_ int, numbers, _ []flp.Scalar) { numbers[2].Add(&numbers[2], &one) },
		"one of them, at one": func(h int, numbers, _ []flp.Scalar) { add(&numbers[2], field(h/4)) },
		"a digit for another": func(h int, _, digits []flp.Scalar) {
			if last := len(flp.DigitsFor(task.Range)) - 1; h == 4 { // of weight 1
				digits[0].Add(&digits[0], &one)
				digits[last].Sub(&digits[last], &weight)
			}
		},
	} {
		digits := r.share(src, r.circuit.Encode(make([]uint64, task.Length)))
		points, polynomials := r.pointsOf(digits), shared{}
		for _, coefficients := range digits {
			polynomials = append(polynomials, append(drawScalars(src, 1), r.packDigits(coefficients)...))
		}
		for h := range points {
			bend(h, drawScalars(src, 3), points[h])
		}
		statement, own, err := r.prove(src, 1, digits, points)
		if err != nil {
			t.Fatal(err)
		}
		convicted := 0
		for h := range task.Holders { // with commitments to the polynomials that this holder's points are of
			numbers := shared{}
			for _, c := range polynomials {
				numbers = append(numbers, slices.Clone(c))
			}
			bend(h, numbers[0], slices.Clone(points[h]))
			shares, err := r.sharePolynomials(src, 1, drawnPolynomials(numbers), statement)
			if err != nil {
				t.Fatal(err)
			}
			m := Message{p.tag, Share, 1, h, slices.Concat(shares[h], statement, own[h])}
			if err := hand(t, p, fresh(t, p), []Message{m})[0]; errors.Is(err, ErrOutOfRange) {
				convicted++
			} else if err != nil {
				t.Errorf("%s: holder %d: %v", name, h, err)
			}
		}
		want := 1
		if name == "other numbers" {
			want = task.Holders
		}
		if convicted != want {
			t.Errorf("%s: %d holders convict the owner, want %d", name, convicted, want)
		}
	}
}

func add(z *flp.Scalar, x flp.Scalar) { z.Add(z, &x) }

// TestUnprovenRangesEndTheSum is why: the same numbers in a task without proofs.
func TestUnprovenRangesEndTheSum(t *testing.T) {
	task := provenTask("unproven", 3)
	task.Proven = false
	p := protocol(t, Shamir, task)
	s := p.shamir
	values := vectors(replay.Seeded(4, "unproven"), task)
	all := fresh(t, p)
	src := replay.Seeded(8, "unproven")
	for o, v := range values {
		shares, err := p.Split(src, o, v)
		if o == 2 {
			polynomials := shared{drawScalars(src, 1+s.countScalars()), drawScalars(src, 1+s.countScalars())}
			shares, err = splitCoefficients(p, src, o, polynomials)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(hand(t, p, all, shares)...); err != nil {
			t.Fatal(err)
		}
	}
	c := finish(t, p, all, nil)
	if _, _, _, err := c.Sum(); !errors.Is(err, ErrDeviation) {
		t.Errorf("the sum: %v, want that a participant deviated", err)
	}
}

// TestForgedOpeningsAreSeen: an owner that knows which holders would look, all but one
// fewer than a quorum, and bends what it opens to suit them, is convicted by all others.
func TestForgedOpeningsAreSeen(t *testing.T) {
	task := provenTask("forged", 5)
	p := protocol(t, Shamir, task)
	r := p.shamir.ranges()
	digits := r.circuit.Encode(make([]uint64, task.Length))
	digits[7] = half()
	shares := splitDigits(t, p, 1, digits)
	q := p.Quorum()
	// The polynomial through what is claimed at 0 and the first q − 1 holders' answers.
	proofSize := proofBytes(task.Holders)
	from := proofSize + r.partBytes()
	statement := bytes.Clone(shares[0].Body[from:][:r.statementBytes()])
	hashes := statement[:64*task.Holders]
	c := r.drawQuery(1, hashes)
	head := len(statement) - scalarBytes*(q-1)
	opening := r.draw(1, forOpening, statement[:head])
	said, err := parsePoints(statement[len(hashes):])
	if err != nil {
		t.Fatal(err)
	}
	values := []flp.Scalar{horner(r.system.Complete(said[:len(said)-q+1], c.joint), &opening)}
	for h := range q - 1 {
		points, err := parsePoints(shares[h].Body[from+len(statement)+32:])
		if err != nil {
			t.Fatal(err)
		}
		n := r.circuit.Inputs()
		values = append(values, horner(r.query(c, points[:n], points[n:]), &opening))
	}
	forged := statement[:head]
	for _, z := range interpolate(values)[1:] {
		forged = z.Append(forged)
	}
	var parts [][]byte
	for _, m := range shares {
		parts = append(parts, bytes.Clone(m.Body[proofSize:from]))
	}
	// The same proof, but for what it says of the statement.
	for h := range shares {
		proof := shares[h].Body[:proofSize]
		digest := sha256Of(forged)
		copy(p.shamir.statedIn(proof), digest)
		shares[h].Body = slices.Concat(proof, parts[h], forged, shares[h].Body[from+len(statement):])
	}
	for h, err := range hand(t, p, fresh(t, p), shares) {
		if got := errors.Is(err, ErrOutOfRange); got != (h >= q-1) {
			t.Errorf("holder %d: %v", h, err)
		}
	}
}

// TestNothingIsForeseen: all that is drawn follows from the hashes, each draw from all that
// came before it, and no two are alike; nor are those of another owner.
func TestNothingIsForeseen(t *testing.T) {
	p := protocol(t, Shamir, provenTask("foreseen", 3))
	r := p.shamir.ranges()
	hashes := make([]byte, 64*p.task.Holders)
	seen := map[string]bool{}
	note := func(all ...flp.Scalar) {
		for i := range all {
			b := string(all[i].Append(nil))
			if seen[b] {
				t.Errorf("draw %d is foreseen", i)
			}
			seen[b] = true
		}
	}
	drawn := func(owner int) challenges { return r.drawQuery(owner, hashes) }
	first := drawn(1)
	note(append(first.query, first.joint...)...)
	other := drawn(2)
	note(append(other.query, other.joint...)...)
	for at := range hashes {
		hashes[at]++
		c := drawn(1)
		note(c.query...)
		if early := at < len(hashes)/2; early {
			note(c.joint...)
		} else if c.joint[0] != first.joint[0] {
			t.Error("r follows from what comes after it")
		}
		hashes[at]--
	}
}

// FuzzRanges: whatever follows a share, a holder takes it as it was sent or not at all.
func FuzzRanges(f *testing.F) {
	p := protocol(f, Shamir, Task{Round: "fuzz", Owners: 2, AtLeast: 2, Holders: 3, Length: 2, Range: 20, Proven: true})
	out, err := p.Split(replay.Seeded(12, "fuzz"), 1, []uint64{0, 19})
	if err != nil {
		f.Fatal(err)
	}
	bare := p.Bare(out[0]).Body
	good := out[0].Body[len(bare):]
	f.Add(good)
	f.Add(good[:100])
	f.Add(bytes.Repeat([]byte{0xff}, len(good)))
	f.Fuzz(func(t *testing.T, rest []byte) {
		h, err := p.NewHolder(0)
		if err != nil {
			t.Fatal(err)
		}
		m := out[0]
		m.Body = slices.Concat(bare, rest)
		if _, err := h.Handle(m); (err == nil) != bytes.Equal(rest, good) || errors.Is(err, ErrInconsistent) {
			t.Errorf("%d bytes: %v", len(rest), err)
		}
	})
}

// TestStatementsAreBound: who bends what follows a share on its way convicts no one; an
// owner that signs for it is convicted, wherever it is bent.
func TestStatementsAreBound(t *testing.T) {
	task := provenTask("bound ranges", 3)
	p := protocol(t, Shamir, task)
	s := p.shamir
	shares, err := p.Split(replay.Seeded(9, "bound"), 1, make([]uint64, task.Length))
	if err != nil {
		t.Fatal(err)
	}
	body := shares[0].Body
	from := proofBytes(task.Holders) + s.partBytes()
	statement := s.ranges().statementBytes()
	if len(body) != from+statement+s.ranges().ownBytes() || len(body)-proofBytes(task.Holders)-s.partBytes() !=
		ProvenBytes(task) {
		t.Fatalf("a share has %d bytes", len(body))
	}
	check := func(name string, m Message, want error) {
		t.Helper()
		err := hand(t, p, fresh(t, p), []Message{m})[0]
		if !errors.Is(err, ErrRefused) || errors.Is(err, ErrInconsistent) != (want != nil) {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for at := from; at < len(body); at += 31 {
		m := shares[0]
		m.Body = bytes.Clone(body)
		m.Body[at] ^= 1
		check(fmt.Sprintf("byte %d on its way", at), m, nil)
		if at < from+statement && at >= from+64*task.Holders {
			digest := sha256Of(m.Body[from:][:statement])
			copy(s.statedIn(m.Body[:proofBytes(task.Holders)]), digest)
			check(fmt.Sprintf("byte %d by the owner", at), m, ErrOutOfRange)
		}
	}
	for name, b := range map[string][]byte{"none": body[:from], "short": body[:len(body)-1],
		"long": append(bytes.Clone(body), 0)} {
		m := shares[0]
		m.Body = b
		check(name, m, nil)
	}
	if kept := p.Bare(shares[0]); len(kept.Body) != from || fresh(t, p)[0].Restore(kept) != nil {
		t.Error("a bare share is not restored")
	}
}

// TestStatementsShowNothing: what one holder short of a quorum and everyone sees of two
// vectors at the ends of the range has the same law: chi-square of two samples in 16
// classes, of what the wires would be without seeds, of opening, and of the pool's points
// of the digits. By chance it fails once in 10^5.
func TestStatementsShowNothing(t *testing.T) {
	task := Task{Round: "show nothing", Owners: 2, AtLeast: 2, Holders: 3, Length: 1, Range: 20, Proven: true}
	p := protocol(t, Shamir, task)
	r := p.shamir.ranges()
	from := proofBytes(task.Holders) + r.partBytes()
	hashes := 64 * task.Holders
	arity, _, calls := r.circuit.Shape()
	if calls != 1 {
		t.Fatalf("%d calls: the wires without seeds are t times the digits for one", calls)
	}
	trials := size.Of(200, 1500)
	var counts [][2][16]float64
	for side, v := range []uint64{0, task.Range - 1} {
		src := replay.Seeded(uint64(50+side), "show nothing")
		for range trials {
			out, err := p.Split(src, 0, []uint64{v})
			if err != nil {
				t.Fatal(err)
			}
			statement := out[1].Body[from:][:r.statementBytes()]
			seen, err := parsePoints(statement[hashes:])
			if err != nil {
				t.Fatal(err)
			}
			query := r.drawQuery(0, statement[:hashes]).query
			inverse := query[len(query)-1]
			inverse.Inv(&inverse)
			for i := range arity {
				seen[i].Mul(&seen[i], &inverse)
			}
			points, err := parsePoints(out[1].Body[from+len(statement)+32:])
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, points[:r.circuit.Inputs()]...)
			if counts == nil {
				counts = make([][2][16]float64, len(seen))
			}
			for i := range seen {
				counts[i][side][seen[i].Append(nil)[0]%16]++
			}
		}
	}
	for i, c := range counts {
		chi := 0.
		for k := range 16 {
			if sum := c[0][k] + c[1][k]; sum > 0 {
				chi += (c[0][k] - c[1][k]) * (c[0][k] - c[1][k]) / sum
			}
		}
		if chi > 62 { // of 15 degrees of freedom: 1.2·10^-7 for each place
			t.Errorf("place %d of %d: chi-square %.1f", i, len(counts), chi)
		}
	}
}

// splitCoefficients shares any polynomials: by degree, blind's first.
func splitCoefficients(p *Protocol, src rng.Source, owner int, by shared) (out []Message, err error) {
	s := p.shamir
	all := drawnPolynomials(by)
	shares, err := s.sharePolynomials(src, owner, all, nil)
	for h, b := range shares {
		out = append(out, Message{p.tag, Share, owner, h, b})
	}
	return out, err
}

func drawnPolynomials(by shared) [][]group.Scalar {
	out := make([][]group.Scalar, len(by[0]))
	for _, coefficients := range by {
		scalars, err := readScalars(appendScalars(nil, coefficients))
		if err != nil {
			panic(err)
		}
		for i, c := range scalars {
			out[i] = append(out[i], c)
		}
	}
	return out
}

func sha256Of(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}

// interpolate returns the coefficients of the polynomial with these values at 0, 1, 2, ...
func interpolate(values []flp.Scalar) []flp.Scalar {
	out := make([]flp.Scalar, len(values))
	for i := range values {
		basis, scale := []flp.Scalar{field(1)}, field(1) // ∏ (x − j), ∏ (i − j)
		for j := range values {
			if j == i {
				continue
			}
			next, d, minus := make([]flp.Scalar, len(basis)+1), field(i-j), field(-j)
			for k := range basis {
				var down flp.Scalar
				down.Mul(&basis[k], &minus)
				next[k].Add(&next[k], &down)
				next[k+1].Add(&next[k+1], &basis[k])
			}
			basis = next
			scale.Mul(&scale, &d)
		}
		scale.Inv(&scale)
		scale.Mul(&scale, &values[i])
		for k := range basis {
			var term flp.Scalar
			term.Mul(&basis[k], &scale)
			out[k].Add(&out[k], &term)
		}
	}
	return out
}
