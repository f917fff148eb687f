// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// named are laws of one kind by name, each made for a number of coordinates or cells.
type named[L any] []struct {
	name string
	size func(eps dp.Epsilon, n int) (L, error)
}

func (laws named[L]) names() (names []string) {
	for _, l := range laws {
		names = append(names, l.name)
	}
	return names
}

func (laws named[L]) make(name string, eps dp.Epsilon, n int) (law L, err error) {
	for _, l := range laws {
		if l.name == name {
			return l.size(eps, n)
		}
	}
	return law, dp.Refuse("local", "mechanism", "must be one of "+strings.Join(laws.names(), ", "), fmt.Sprintf("%q", name))
}

var (
	vectorLaws = named[VectorLaw]{
		{"piecewise", func(e dp.Epsilon, d int) (VectorLaw, error) { return PiecewiseFor(e, d) }},
		{"duchi", func(e dp.Epsilon, d int) (VectorLaw, error) { return DuchiFor(e, d) }},
		{"hybrid", func(e dp.Epsilon, d int) (VectorLaw, error) { return HybridFor(e, d) }},
		{"laplace", func(e dp.Epsilon, d int) (VectorLaw, error) { return LaplaceFor(e, d) }},
	}
	cellLaws = named[CellLaw]{
		{"oue", func(e dp.Epsilon, d int) (CellLaw, error) { return OUEFor(e, d) }},
		{"grr", func(e dp.Epsilon, d int) (CellLaw, error) { return GRRFor(e, d) }},
	}
)

// VectorLaws lists the names that VectorLawFor accepts.
func VectorLaws() []string { return vectorLaws.names() }

// CellLaws lists the names that CellLawFor accepts.
func CellLaws() []string { return cellLaws.names() }

// VectorLawFor makes the law with the given name.
func VectorLawFor(name string, eps dp.Epsilon, dim int) (VectorLaw, error) {
	return vectorLaws.make(name, eps, dim)
}

// CellLawFor makes the law with the given name.
func CellLawFor(name string, eps dp.Epsilon, cells int) (CellLaw, error) {
	return cellLaws.make(name, eps, cells)
}

// BestCellLaw returns OUE or GRR, whichever estimates an empty cell more accurately: GRR if there are
// fewer than about 3e^ε + 1 cells.
func BestCellLaw(eps dp.Epsilon, cells int) (CellLaw, error) {
	oue, err := OUEFor(eps, cells)
	if err != nil {
		return nil, err
	}
	grr, err := GRRFor(eps, cells)
	if err != nil {
		return nil, err
	}
	if grr.Variance(0) < oue.Variance(0) {
		return grr, nil
	}
	return oue, nil
}
