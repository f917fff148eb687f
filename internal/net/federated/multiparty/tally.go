// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Tally adds up the files of the parties of one combination, without storing them. It is not safe for
// concurrent use, and must not be used after an error.
type Tally struct {
	pl      *Plan
	rows    int
	aux     Digest
	parties map[string]bool
	keys    map[Key]bool
	votes   []uint32 // rows × K, in units of 1/One
	coefs   []int64  // width, in units of 2^-coefBits
	shared  bool     // by several plans
}

// coefBits is the precision of coefficients in Average.
const coefBits = 32

// NewTally returns a tally without parties. rows and aux are those of the auxiliary table.
func (pl *Plan) NewTally(rows int, aux Digest) (*Tally, error) {
	if err := pl.Params.checkParams(pl.s, rows); err != nil {
		return nil, err
	}
	if rows < 1 {
		return nil, fmt.Errorf("multiparty: the auxiliary table must have at least one row")
	}
	t := &Tally{pl: pl, rows: rows, aux: aux, parties: map[string]bool{}, keys: map[Key]bool{}}
	if pl.Method == Average {
		t.coefs = make([]int64, pl.countCoefficients())
	} else {
		t.votes = make([]uint32, rows*pl.Levels())
	}
	return t, nil
}

// For returns the same files' tally for another plan with the same schema, number of parties and kind
// of file. It shares the sums with t, so that t accepts no more files. Each combination has its own
// price.
func (t *Tally) For(pl *Plan) (*Tally, error) {
	average := pl.Method == Average
	if pl.s != t.pl.s || pl.Parties != t.pl.Parties || average != (t.pl.Method == Average) ||
		average && (pl.Bound != t.pl.Bound || pl.Encoding != t.pl.Encoding) {
		return nil, fmt.Errorf("multiparty: hand-ins serve plans of one schema, number of parties and kind only")
	}
	out := *t
	out.pl, out.shared, t.shared = pl, true, true
	return &out, nil
}

// Present returns the number of parties that were added.
func (t *Tally) Present() int { return len(t.parties) }

// Add reads one party's file to its end. It refuses a file about another table, of a party or key that
// was already added, or from more parties than planned.
func (t *Tally) Add(r io.Reader) (*Header, error) {
	if t.shared {
		return nil, fmt.Errorf("multiparty: a tally that serves several plans takes no more files")
	}
	v, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	if err := t.admitHeader(&v.Header); err != nil {
		return nil, err
	}
	if v.Header.Kind == Coefficients {
		err = t.coefficients(v)
	} else {
		err = t.rowVotes(v)
	}
	return &v.Header, err
}

// Fits refuses a header of a file that pl does not read, or about another table than that with the
// given rows and digest.
func (pl *Plan) Fits(h *Header, rows int, aux Digest) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("multiparty: votes: "+format, args...)
	}
	switch {
	case h.Aux != aux || h.Rows != rows:
		return bad("must be about this auxiliary table, byte for byte")
	case !slices.Equal(h.Levels, Levels(pl.s)):
		return bad("the levels must be those of the schema's label, in its order")
	case (h.Kind == Coefficients) != (pl.Method == Average):
		return bad("method %s reads files of kind %q (got %q)", pl.Method, pl.Inputs(), h.Kind)
	case h.Kind == Coefficients && (h.Encoder != string(pl.Encoding) || !slices.Equal(h.Layout, pl.space.Names)):
		return bad("coefficients must be of the features of the schema in %s encoding, in its order", pl.Encoding)
	}
	return nil
}

func (t *Tally) admitHeader(h *Header) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("multiparty: votes: "+format, args...)
	}
	if err := t.pl.Fits(h, t.rows, t.aux); err != nil {
		return err
	}
	switch {
	case t.parties[h.Party]:
		return bad("party %q must hand in once", h.Party)
	case t.keys[h.Key]:
		return bad("a key must sign one party's votes only")
	case len(t.parties) == t.pl.Parties:
		return bad("at most %d parties were announced", t.pl.Parties)
	}
	t.parties[h.Party], t.keys[h.Key] = true, true
	return nil
}

func (t *Tally) rowVotes(v *Reader) error {
	levels := t.pl.Levels()
	into := t.votes
	for {
		body, rows, err := v.nextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case v.Header.Kind == Probabilities:
			addProbabilities(into, body, rows, levels)
		case levels == 2:
			for i, c := range body { // no branch: of what the votes are, nothing shows in the time
				u := uint32(c) * One
				into[2*i] += One - u
				into[2*i+1] += u
			}
		default:
			for i, c := range body {
				into[i*levels+int(c)] += One
			}
		}
		into = into[rows*levels:]
	}
}

func addProbabilities(into []uint32, body []byte, rows, levels int) {
	for range rows {
		left := uint32(One)
		for k := range levels - 1 {
			u := uint32(binary.LittleEndian.Uint16(body[2*k:]))
			into[k] += u
			left -= u
		}
		into[levels-1] += left
		body, into = body[2*(levels-1):], into[levels:]
	}
}

// coefficients adds one party's coefficients, clipped to length Bound (3.1). They are rounded towards
// zero, so that rounding does not increase the length.
func (t *Tally) coefficients(v *Reader) error {
	coef := make([]float64, 0, t.pl.countCoefficients())
	for {
		body, _, err := v.nextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for ; len(body) > 0; body = body[8:] {
			coef = append(coef, math.Float64frombits(binary.LittleEndian.Uint64(body)))
		}
	}
	for f, c := range clipLength(coef, t.pl.Bound) {
		t.coefs[f] += int64(math.Ldexp(c, coefBits))
	}
	return nil
}

// clipLength scales w to length at most bound, and returns w if it is shorter. The last factor
// prevents rounding from exceeding bound.
func clipLength(w []float64, bound float64) []float64 {
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return w
	}
	sum := 0.0
	for _, x := range w {
		sum += x / largest * (x / largest)
	}
	length := math.Sqrt(sum)
	if length*largest <= bound*(1-0x1p-30) {
		return w
	}
	out := make([]float64, len(w))
	for f, x := range w {
		out[f] = x / largest / length * (bound * (1 - 0x1p-30))
	}
	return out
}

// share writes the votes for every level of a row, in units of 1/(K·One). An absent party counts 1/K
// for each level (1.3). The sum is K·One·M.
func (t *Tally) share(row int, out []uint64) {
	levels := t.pl.Levels()
	constant := uint64(t.pl.Parties-len(t.parties)) * One
	for k := range levels {
		out[k] = uint64(levels)*uint64(t.votes[row*levels+k]) + constant
	}
	if t.pl.Method == Majority {
		most := 0
		for k := range out {
			if out[k] > out[most] { // 1.4: of equal ones, the level first in the schema
				most = k
			}
		}
		clear(out)
		out[most] = t.totalUnits()
	}
}

// totalUnits returns the sum of every row's shares.
func (t *Tally) totalUnits() uint64 { return uint64(t.pl.Levels()) * One * uint64(t.pl.Parties) }
