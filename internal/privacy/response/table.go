// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// vectorLaws are the laws for vectors by name; cellLaws are those for cells.
var (
	vectorLaws = []struct {
		name string
		size func(eps dp.Epsilon, dim int) (VectorLaw, error)
	}{
		{"piecewise", func(e dp.Epsilon, d int) (VectorLaw, error) { return PiecewiseFor(e, d) }},
		{"duchi", func(e dp.Epsilon, d int) (VectorLaw, error) { return DuchiFor(e, d) }},
		{"hybrid", func(e dp.Epsilon, d int) (VectorLaw, error) { return HybridFor(e, d) }},
		{"laplace", func(e dp.Epsilon, d int) (VectorLaw, error) { return LaplaceFor(e, d) }},
	}
	cellLaws = []struct {
		name string
		size func(eps dp.Epsilon, cells int) (CellLaw, error)
	}{
		{"oue", func(e dp.Epsilon, d int) (CellLaw, error) { return OUEFor(e, d) }},
		{"grr", func(e dp.Epsilon, d int) (CellLaw, error) { return GRRFor(e, d) }},
	}
)

// VectorLaws lists the names that VectorLawFor accepts.
func VectorLaws() (names []string) {
	for _, l := range vectorLaws {
		names = append(names, l.name)
	}
	return names
}

// CellLaws lists the names that CellLawFor accepts.
func CellLaws() (names []string) {
	for _, l := range cellLaws {
		names = append(names, l.name)
	}
	return names
}

// VectorLawFor makes the law with the given name.
func VectorLawFor(name string, eps dp.Epsilon, dim int) (VectorLaw, error) {
	for _, l := range vectorLaws {
		if l.name == name {
			return l.size(eps, dim)
		}
	}
	return nil, unknownLaw(name, VectorLaws())
}

// CellLawFor makes the law with the given name.
func CellLawFor(name string, eps dp.Epsilon, cells int) (CellLaw, error) {
	for _, l := range cellLaws {
		if l.name == name {
			return l.size(eps, cells)
		}
	}
	return nil, unknownLaw(name, CellLaws())
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

func unknownLaw(name string, known []string) error {
	return dp.Refuse("local", "mechanism", "must be one of "+strings.Join(known, ", "), fmt.Sprintf("%q", name))
}
