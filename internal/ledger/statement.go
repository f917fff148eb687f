// SPDX-License-Identifier: Apache-2.0

package ledger

import "github.com/discreet-dp/discreet/internal/ground/dp"

// Statement is a data set's balance for programs. The plain numbers are for display; the nano and
// femto numbers are exact.
type Statement struct {
	Dataset  string  `json:"dataset"`
	Total    Decimal `json:"total"`
	Spent    Decimal `json:"spent"`
	Reserved Decimal `json:"reserved"`
	Left     Decimal `json:"left"`
	Nano     struct {
		Total    dp.Epsilon `json:"total"`
		Spent    dp.Epsilon `json:"spent"`
		Reserved dp.Epsilon `json:"reserved"`
		Left     dp.Epsilon `json:"left"`
	} `json:"epsilon_nano"`
	Femto femtoUse        `json:"delta_femto"`
	Parts []partStatement `json:"parts,omitempty"`
	// CohortBy is the column of the cohorts. If it is given, Parts are the cohorts, and ForNew is what
	// is left for trainings on new ones.
	CohortBy string   `json:"cohort_by,omitempty"`
	ForNew   *Decimal `json:"left_for_new,omitempty"`
	Unit     string   `json:"unit"`
	// Institution is nil if the institution has no total.
	Institution *institutionStatement `json:"institution,omitempty"`
	Note        string                `json:"note"`
}

// partStatement is one part of a data set; what is left is for trainings on it.
type partStatement struct {
	Name     string  `json:"name"`
	Spent    Decimal `json:"spent"`
	Reserved Decimal `json:"reserved"`
	Left     Decimal `json:"left"`
	Femto    struct {
		Spent    dp.Delta `json:"spent"`
		Reserved dp.Delta `json:"reserved"`
		Left     dp.Delta `json:"left"`
	} `json:"delta_femto"`
}

// femtoUse is the use of a total of δ.
type femtoUse struct {
	Total    dp.Delta `json:"total"`
	Spent    dp.Delta `json:"spent"`
	Reserved dp.Delta `json:"reserved"`
	Left     dp.Delta `json:"left"`
}

// institutionStatement is the use of an institution's total.
type institutionStatement struct {
	Total     Decimal  `json:"total"`
	Spent     Decimal  `json:"spent"`
	Reserved  Decimal  `json:"reserved"`
	Left      Decimal  `json:"left"`
	Protected bool     `json:"protected"`
	Femto     femtoUse `json:"delta_femto"`
}

// Decimal is an ε that is formatted as an exact decimal.
type Decimal dp.Epsilon

func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(dp.Epsilon(d).String()), nil }

// Statement returns the balance for programs.
func (b *Balance) Statement() Statement {
	a := Statement{
		Dataset: b.Name, Unit: b.Unit, Note: b.Note,
		Total: Decimal(b.Epsilon), Spent: Decimal(b.Spent), Reserved: Decimal(b.Reserved), Left: Decimal(b.Left),
	}
	a.Nano.Total, a.Nano.Spent, a.Nano.Reserved, a.Nano.Left = b.Epsilon, b.Spent, b.Reserved, b.Left
	a.Femto.Total, a.Femto.Spent, a.Femto.Reserved, a.Femto.Left = b.Delta, b.SpentDelta, b.ReservedDelta, b.LeftDelta
	for _, p := range b.ByPart {
		own := partStatement{Name: p.Name, Spent: Decimal(p.Spent.Epsilon), Reserved: Decimal(p.Reserved.Epsilon),
			Left: Decimal(p.Left.Epsilon)}
		own.Femto.Spent, own.Femto.Reserved, own.Femto.Left = p.Spent.Delta, p.Reserved.Delta, p.Left.Delta
		a.Parts = append(a.Parts, own)
	}
	if i := b.OfInstitution; i != nil {
		own := &institutionStatement{Total: Decimal(i.Total.Epsilon), Spent: Decimal(i.Spent.Epsilon),
			Reserved: Decimal(i.Reserved.Epsilon), Left: Decimal(i.Left.Epsilon), Protected: !i.Exposed}
		own.Femto.Total, own.Femto.Spent, own.Femto.Reserved, own.Femto.Left = i.Total.Delta, i.Spent.Delta, i.Reserved.Delta,
			i.Left.Delta
		a.Institution = own
	}
	if b.CohortBy != "" {
		left := Decimal(b.ForNew.Epsilon)
		a.CohortBy, a.ForNew = b.CohortBy, &left
	}
	return a
}
