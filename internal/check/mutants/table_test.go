// SPDX-License-Identifier: Apache-2.0

package mutants

// A mutant is one bug: in File, Old becomes New, and then Test in Package must
// fail. Row is the bug's row in the list of injected bugs that privacy reviews
// go by (noise not split, sensitivity without c2, ...).
type mutant struct {
	Row           string
	Bug           string
	File          string
	Old, New      string
	Package, Test string
}

var table = []mutant{
	{
		Row: "2", Bug: "noise split over T-1 rounds",
		File: "internal/learn/brc/params.go",
		Old:  `eps, err := rest.Split(parts*pl.Rounds + paid)`,
		New:  `eps, err := (rest * dp.Epsilon(pl.Rounds) / dp.Epsilon(pl.Rounds-1)).Split(parts*pl.Rounds + paid)`,

		Package: "./internal/learn/brc", Test: "TestConformance/partly_private/bill_equals_releases",
	},
	{
		Row: "3", Bug: "sensitivity misses c2",
		File: "internal/guard/mistakes/rows.go",
		Old:  `hi, lo := float64(r.reach.hi), float64(r.reach.lo)`,
		New:  `hi, lo := float64(r.clip.one), float64(r.reach.lo)`,

		Package: "./internal/guard/mistakes", Test: "TestDeclaredSensitivityIsHeldAndReached",
	},
	{
		Row: "4", Bug: "sensitivity 1/n",
		File: "internal/guard/mistakes/rows.go",
		Old:  `return roundUp(hi / (hi + others*lo))`,
		New:  `return roundUp(hi / hi / (lo / lo * (others + 1)))`,

		Package: "./internal/guard/mistakes", Test: "TestDeclaredSensitivityIsHeldAndReached",
	},
	{
		Row: "5", Bug: "weights never clipped",
		File: "internal/guard/mistakes/weights.go",
		Old:  `if f >= float64(c.lo) && f <= float64(c.hi) {`,
		New:  `if f >= 1 && f <= float64(c.hi)*1e6 {`,

		Package: "./internal/guard/mistakes", Test: "TestWeightsStayInsideTheReachableSet",
	},
	{
		Row: "8", Bug: "numbers scaled by the data's own range",
		File: "internal/table/engine/memory/memory.go",
		Old:  `	sc := feature.NewScorer(sp, cs)`,
		New: `	cols := make([]column.Column, len(m.t.Cols))
	copy(cols, m.t.Cols)
	for j := range cols {
		if cols[j].Values == nil {
			continue
		}
		lo, hi := cols[j].Values[cols[j].Codes.At(0)], cols[j].Values[cols[j].Codes.At(0)]
		for i := range m.t.Rows {
			v := cols[j].Values[cols[j].Codes.At(i)]
			lo, hi = min(lo, v), max(hi, v)
		}
		c := m.t.Schema.Columns[j]
		scaled := make([]float64, len(cols[j].Values))
		for k, v := range cols[j].Values {
			scaled[k] = c.Lower + (c.Upper-c.Lower)*min(1, max(0, (v-lo)/max(hi-lo, 1e-9)))
		}
		cols[j].Values = scaled
	}
	m = &Table{t: &dataset.Table{Schema: m.t.Schema, Rows: m.t.Rows, Cols: cols, Labels: m.t.Labels}}
	sc := feature.NewScorer(sp, cs)`,
		Package: "./internal/learn/brc", Test: "TestReplayNonInterference",
	},
	{
		Row: "9", Bug: "selection and error both at the round's full ε",
		File: "internal/learn/brc/params.go",
		Old:  `		sh.err, eps = eps[0], eps[1:]`,
		New: `		sh.err, eps = eps[0], eps[1:]
		if parts == 2 {
			sh.err, sh.pick = 2*sh.err, 2*sh.pick
		}`,
		Package: "./internal/learn/brc", Test: "TestConformance/selected/bill_equals_releases",
	},
	{
		Row: "10", Bug: "selection without the 2 of 2Δ",
		File: "internal/guard/mistakes/rows.go",
		Old:  `spread := 2 * r.errorSensitivity()`,
		New:  `spread := r.errorSensitivity()`,

		Package: "./internal/learn/brc", Test: "TestReplayNonInterference",
	},
	{
		Row: "B-1", Bug: "a private label pays for the public classifier, and the rounds spend the whole ε again",
		File: "internal/learn/brc/params.go",
		Old:  `		rest -= pl.labels.Epsilon`,
		New:  `		rest -= 0`,

		Package: "./internal/learn/brc", Test: "TestConformance/label_for_a_share/bill_equals_releases",
	},
	{
		Row: "B-4", Bug: "how a shape answers a row depends on the row before it",
		File: "internal/guard/mistakes/shapes.go",
		Old:  `return p.Bits[i*p.Words+k/64]`,
		New:  `return p.Bits[max(i-1, 0)*p.Words+k/64]`,

		Package: "./internal/learn/brc", Test: "TestShapesEqualTheNaiveTwin",
	},
	{
		Row: "11", Bug: "Laplace scale 5% small",
		File: "internal/privacy/mech/grid.go",
		Old:  `	g.scale = q`,
		New:  `	g.scale = q / 100 * 95`,

		Package: "./internal/privacy/mech", Test: "TestGridNeverChargesTooLittle",
	},
	{
		Row: "11b", Bug: "Laplace draws 5% small",
		File: "internal/privacy/mech/laplace.go",
		Old:  `discreteLaplace(src, m.grid.scale)`,
		New:  `discreteLaplace(src, m.grid.scale/100*95)`,

		Package: "./internal/privacy/mech", Test: "TestLaplaceScale",
	},
	{
		Row: "12", Bug: "floating-point Laplace noise",
		File: "internal/privacy/mech/laplace.go",
		Old:  `		out[i] = m.grid.nearestFloat(k.Add(k, discreteLaplace(src, m.grid.scale))) // 1.3`,
		New: `		_ = k
		u := (float64(src.Uint64()>>11) + 0.5) * 0x1p-53
		e := -m.Scale() * math.Log(u)
		if src.Uint64()&1 == 0 {
			e = -e
		}
		out[i] = v.Float() + e`,
		Package: "./internal/privacy/mech", Test: "TestOutputsLieOnTheGrid",
	},
	{
		Row: "13", Bug: "row norm not clipped",
		File: "internal/table/engine/kernel/exact.go",
		Old:  `		t[i] = min(r.Scale, r.Norm/math.Sqrt(square))`,
		New:  `		t[i] = r.Scale + 0*square`,

		Package: "./internal/guard/perturbed", Test: "TestOneRowMovesTheGradientNoFurtherThanDeclared",
	},
	{
		Row: "14", Bug: "output perturbation without the 2",
		File: "internal/guard/perturbed/noise.go",
		Old:  `l2 := u.rowSlopes()*slope/u.summedPenalty() + off`,
		New:  `l2 := u.rowSlopes()/2*slope/u.summedPenalty() + off`,

		Package: "./internal/guard/perturbed", Test: "TestOutputSensitivityIsReached",
	},
	{
		Row: "15", Bug: "intercept's constant left out of a row's length",
		File: "internal/table/engine/kernel/exact.go",
		Old:  `		square := 1.0`,
		New:  `		square := 0.0`,

		Package: "./internal/guard/perturbed", Test: "TestOneRowMovesTheGradientNoFurtherThanDeclared",
	},
	{
		Row: "16", Bug: "summed gradient, noise for the mean",
		File: "internal/guard/perturbed/units.go",
		Old:  `return 2 * u.norm }`,
		New:  `return 2 * u.norm / u.n }`,

		Package: "./internal/guard/perturbed", Test: "TestOneRowMovesTheGradientNoFurtherThanDeclared",
	},
	{
		Row: "17", Bug: "objective perturbation of CM08, without the Jacobian",
		File: "internal/guard/perturbed/noise.go",
		Old:  `mech.ObjectiveFor(eps, u.rowSlopes(), jacobian, u.dim)`,
		New:  `mech.ObjectiveFor(eps, u.rowSlopes(), 0*jacobian, u.dim)`,

		Package: "./internal/guard/perturbed", Test: "TestSupremumOverTables",
	},
	{
		Row: "18", Bug: "noise Gamma(d, 1/ε)",
		File: "internal/privacy/mech/gamma.go",
		Old:  `noise[i]*v.scale, v.exp`,
		New:  `noise[i]*v.scale/2, v.exp`,

		Package: "./internal/privacy/mech", Test: "TestGammaLength",
	},
	{
		Row: "19", Bug: "c·R in place of c·R²",
		File: "internal/guard/perturbed/units.go",
		Old:  `bend := u.curve * u.norm * u.norm`,
		New:  `bend := u.curve * u.norm`,

		Package: "./internal/guard/perturbed", Test: "TestRadiusEntersSquared",
	},
	{
		Row: "20", Bug: "intercept not regularised",
		File: "internal/guard/perturbed/rows.go",
		Old:  `	for i := range p.Grad {`,
		New: `	for i := range p.Grad {
		if i == u.dim-1 {
			p.Value += b[i] * w[i] / u.n
			p.Grad[i] = (p.Grad[i] + b[i]) / u.n
			continue
		}`,
		Package: "./internal/guard/perturbed", Test: "TestCertificateHolds",
	},
	{
		Row: "21", Bug: "solver stopped after one step",
		File: "internal/guard/perturbed/solve.go",
		Old:  `		if was <= target { // 2.3: the certificate`,
		New:  `		if target >= 0 {`,

		Package: "./internal/guard/perturbed", Test: "TestCertificateHolds",
	},
	{
		Row: "erm grid", Bug: "the remainder forgets that the linear term was snapped",
		File: "internal/guard/perturbed/problem.go",
		Old:  `s.minimumDistance(s.gradientBound()+s.snappingBound(s.term))`,
		New:  `s.minimumDistance(s.gradientBound()+0*s.snappingBound(s.term))`,

		Package: "./internal/guard/perturbed", Test: "TestRemainderCoversTheGridOfTheTerm",
	},
	{
		Row: "threshold 1", Bug: "the choice of a threshold priced as if a row could only add to counts",
		File: "internal/guard/perturbed/rows.go",
		Old:  `mech.PermuteAndFlipFor(eps, 2)`,
		New:  `mech.PermuteAndFlipFor(eps, 1)`,

		Package: "./internal/guard/perturbed", Test: "TestThresholdSensitivityIsHeldAndReached",
	},
	{
		Row: "29", Bug: "seeded noise in production",
		File: "internal/privacy/rng/rng.go",
		Old:  `func System() Source { return newSystem(func(b []byte) { rand.Read(b) }) }`,
		New: `func System() Source {
	_, x := rand.Reader, uint64(1)
	return newSystem(func(b []byte) {
		for i := range b {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			b[i] = byte(x >> 32)
		}
	})
}`,

		Package: "./internal/learn/brc", Test: "TestConformance/partly_private/fresh_randomness_gives_other_bytes",
	},
	{
		Row: "30", Bug: "ledger accepts a negative price",
		File: "internal/privacy/accounting/within.go",
		Old:  `pure := e.Epsilon >= 0 && e.Epsilon <= dp.MaxEpsilon`,
		New:  `pure := e.Epsilon <= dp.MaxEpsilon`,

		Package: "./internal/ledger", Test: "TestPriceMustCoverItsBill",
	},
	{
		Row: "delta 1", Bug: "a price is taken that joint accounting finds too low",
		File: "internal/ledger/job.go",
		Old:  `price.Delta == 0 && total != price.Epsilon, !enough:`,
		New:  `price.Delta == 0 && total != price.Epsilon, !enough && price.Delta == 0:`,

		Package: "./internal/ledger", Test: "TestPriceMustCoverItsBill",
	},
	{
		Row: "delta 2", Bug: "the ledger compares ε only",
		File: "internal/ledger/job.go",
		Old:  `price.Epsilon > left.Epsilon || price.Delta > left.Delta`,
		New:  `price.Epsilon > left.Epsilon`,

		Package: "./internal/ledger", Test: "TestDeltasAddUp",
	},
	{
		Row: "delta 6", Bug: "accounting: the closed form is read at ε rounded up by a thousandth",
		File: "internal/privacy/accounting/within.go",
		Old:  `epsilon := math.Nextafter(price.Epsilon.Float(), 0)`,
		New:  `epsilon := 1.001 * math.Nextafter(price.Epsilon.Float(), 0)`,

		Package: "./internal/privacy/accounting", Test: "TestWithinGaussian",
	},
	{
		Row: "parts 1", Bug: "of disjoint parts the last counts, not the dearest",
		File: "internal/ledger/parts.go",
		Old:  `most = largerPrice(most, of(u))`,
		New:  `most = of(u)`,

		Package: "./internal/ledger", Test: "TestHistoriesAgreeWithTheModel",
	},
	{
		Row: "parts 2", Bug: "a part by a protected column is charged alone under replace-one",
		File: "internal/ledger/parts.go",
		Old:  `case req.Terms.Relation == dp.ReplaceOne && slices`,
		New:  `case req.Terms.Relation == dp.AddRemove && slices`,

		Package: "./internal/ledger", Test: "TestPartsAreRefusedWhereTheyAreNotProven",
	},
	{
		Row: "parts 3", Bug: "parts with other aliases are taken for the declared ones",
		File: "internal/ledger/parts.go",
		Old:  `req.PartsBy != p.By || req.Definition != p.Definition`,
		New:  `req.PartsBy != p.By`,

		Package: "./internal/ledger", Test: "TestPartsAreRefusedWhereTheyAreNotProven",
	},
	{
		Row: "parts 4", Bug: "parts add up",
		File: "internal/ledger/parts.go",
		Old:  `most = largerPrice(most, of(u))`,
		New:  `most = addPrices(most, of(u))`,

		Package: "./internal/ledger", Test: "TestPartsCountThroughTheirMaximum",
	},
	{
		Row: "crash 1", Bug: "the folder of a published result is not flushed",
		File: "internal/ground/openfile/openfile.go",
		Old:  `return errors.Join(d.Sync(), d.Close())`,
		New:  `return d.Close()`,

		Package: "./internal/ledger", Test: "TestNothingAcknowledgedIsLostInACrash",
	},
	{
		Row: "crash 2", Bug: "a result takes its name before its bytes are on the disk",
		File: "internal/ledger/file.go",
		Old:  `		err = f.Sync()`,
		New:  `		err = nil`,

		Package: "./internal/ledger", Test: "TestNothingAcknowledgedIsLostInACrash",
	},
	{
		Row: "attack 1", Bug: "thresholds are set on the runs that taught the ratio",
		File: "lab/internal/attack/roc.go",
		Old:  `return f == folds || run%folds != f`,
		New:  `return f >= 0 || run < 0`,

		Package: "./lab/internal/attack", Test: "TestCurvesOfKnownLaws",
	},
	{
		Row: "attack 2", Bug: "worlds differ in a label that is not protected",
		File: "lab/internal/attack/worlds.go",
		Old:  `case scope == dp.PrivateFeatures:`,
		New:  `case scope == dp.Nothing:`,

		Package: "./lab/internal/attack", Test: "TestWorldsAreNeighbours",
	},
	{
		Row: "30b", Bug: "ledger refunds after the draw",
		File: "internal/ledger/recover.go",
		Old:  `		err = l.closeJob(ctx, name, now.request, "interrupted")`,
		New: `		err = l.moveJob(ctx, "refund", name, now.request, Began, func(now past) Entry {
			return Entry{Kind: Refunded, Epsilon: now.price.Epsilon, Delta: now.price.Delta}
		})`,

		Package: "./internal/ledger", Test: "TestRefundNeedsProof",
	},
	{
		Row: "30c", Bug: "ledger lets a refunded job begin",
		File: "internal/ledger/job.go",
		Old:  `if err := j.expectState(b, Reserved); err != nil {`,
		New:  `if err := j.expectState(b, Reserved); false {`,

		Package: "./internal/ledger", Test: "TestRefundNeedsProof",
	},
	{
		Row: "30d", Bug: "ledger forgets what running jobs have reserved",
		File: "internal/ledger/parts.go",
		Old:  `return addPrices(u.Spent, u.Reserved) }`,
		New:  `return u.Spent }`,

		Package: "./internal/ledger", Test: "TestHistoriesAgreeWithTheModel",
	},
	{
		Row: "30e", Bug: "ledger checks the total outside the step that charges it",
		File: "internal/ledger/job.go",
		Old: `		if err := j.checkAffordable(d, price); err != nil {
			return err
		}
		e := j.newEntry`,
		New: `		e := j.newEntry`,

		Package: "./internal/ledger", Test: "TestExactlyTenOfAHundred",
	},
	{
		Row: "30f", Bug: "ledger publishes before it commits",
		File: "internal/ledger/job.go",
		Old:  `	err := j.l.runStep(context.WithoutCancel(ctx), "commit", func(b *books) error {`,
		New: `	if err := j.l.replaceFile(j.req.Output, result); err != nil {
		return err
	}
	err := j.l.runStep(context.WithoutCancel(ctx), "commit", func(b *books) error {`,

		Package: "./internal/ledger", Test: "TestFaultsOfTheDatabase",
	},
	{
		Row: "acc1", Bug: "losses rounded down to the grid",
		File: "internal/privacy/accounting/grid.go",
		Old:  `	up = min(max(up+8*unit, 0), 1)`,
		New:  `	up = 0`,

		Package: "./internal/privacy/accounting", Test: "TestGaussianComposition",
	},
	{
		Row: "acc2", Bug: "infinite losses forgotten in a composition",
		File: "internal/privacy/accounting/compose.go",
		Old:  `		out.infinite += k * p.infinite * (1 + 8*unit)`,
		New:  `		out.infinite = p.infinite * (1 + 8*unit)`,

		Package: "./internal/privacy/accounting", Test: "TestMixAgainstQuadrature",
	},
	{
		Row: "acc4", Bug: "Gaussian noise without room for rounding to its grid",
		File: "internal/privacy/mech/gaussian.go",
		Old:  `steps := uint64(math.Ceil(math.Ldexp(l2, -m.exp))) + ceilRoot(big.NewInt(int64(length))).Uint64() // 7.1`,
		New:  `steps := uint64(math.Ceil(math.Ldexp(l2, -m.exp)))`,

		Package: "./internal/privacy/mech", Test: "TestGaussianNeverChargesTooLittle",
	},
	// The same bugs seen from outside, by an audit that knows nothing of the code.
	{
		Row: "2 audited", Bug: "noise split over T-1 rounds",
		File: "internal/learn/brc/params.go",
		Old:  `eps, err := rest.Split(parts*pl.Rounds + paid)`,
		New:  `eps, err := (rest * dp.Epsilon(pl.Rounds) / dp.Epsilon(pl.Rounds-1)).Split(parts*pl.Rounds + paid)`,

		Package: "./internal/train/audit", Test: "TestAuditsOfBRC/tight,_2_rounds",
	},
	{
		Row: "3 audited", Bug: "sensitivity misses c2",
		File: "internal/guard/mistakes/rows.go",
		Old:  `hi, lo := float64(r.reach.hi), float64(r.reach.lo)`,
		New:  `hi, lo := float64(r.clip.one), float64(r.reach.lo)`,

		Package: "./internal/train/audit", Test: "TestAuditsOfBRC/tight,_2_rounds",
	},
	{
		Row: "4 audited", Bug: "sensitivity 1/n",
		File: "internal/guard/mistakes/rows.go",
		Old:  `return roundUp(hi / (hi + others*lo))`,
		New:  `return roundUp(hi / hi / (lo / lo * (others + 1)))`,

		Package: "./internal/train/audit", Test: "TestAuditsOfBRC/tight,_2_rounds",
	},
	{
		Row: "11b audited", Bug: "Laplace draws 5% small",
		File: "internal/privacy/mech/laplace.go",
		Old:  `discreteLaplace(src, m.grid.scale)`,
		New:  `discreteLaplace(src, m.grid.scale/100*95)`,

		Package: "./internal/train/audit", Test: "TestAuditsOfCorrectMechanisms/laplace_at_1",
	},
	{
		Row: "12 audited", Bug: "floating-point Laplace noise",
		File: "internal/privacy/mech/laplace.go",
		Old:  `		out[i] = m.grid.nearestFloat(k.Add(k, discreteLaplace(src, m.grid.scale))) // 1.3`,
		New: `		_ = k
		u := (float64(src.Uint64()>>11) + 0.5) * 0x1p-53
		e := -m.Scale() * math.Log(u)
		if src.Uint64()&1 == 0 {
			e = -e
		}
		out[i] = v.Float() + e`,
		Package: "./internal/train/audit", Test: "TestAuditsOfCorrectMechanisms/laplace_at_1",
	},
	{
		Row: "G3", Bug: "grids: slopes of many classes are not shortened",
		File: "internal/table/engine/statistic/gridslopes.go",
		Old:  `		scale = most / length`,
		New:  `		scale = 1 + 0*most`,

		Package: "./internal/learn/grids", Test: "TestReplayNonInterference",
	},
	{
		Row: "G5", Bug: "grids: slopes are shortened to more than the noise is for",
		File: "internal/learn/grids/fit.go",
		Old:  `Most: f.rules.most, Norm`,
		New:  `Most: min(1, 2*f.rules.most), Norm`,

		Package: "./internal/learn/grids", Test: "TestReplayNonInterference",
	},
	{
		Row: "AU2", Bug: "auto: slopes are as long as they come",
		File: "internal/learn/auto/fit.go",
		Old:  `Most: most, Norm`,
		New:  `Most: 1, Norm`,

		Package: "./internal/learn/auto", Test: "TestReplayNonInterference",
	},
	{
		Row: "AU3", Bug: "auto: the choice is not taken off the rest",
		File: "internal/learn/auto/params.go",
		Old:  `rest := pl.Epsilon - share - pl.choice`,
		New:  `rest := pl.Epsilon - share`,

		Package: "./internal/learn/auto", Test: "TestConformance/replace-one/bill_equals_releases",
	},
	{
		Row: "A9", Bug: "additive: rows are weighed under the score of an earlier fit",
		File: "internal/table/engine/statistic/margins.go",
		Old:  `!ok || o.f.Intercept != m.f.Intercept ||`,
		New:  `!ok ||`,

		Package: "./internal/table/engine/memory", Test: "TestCellsAnswerAlikeWhateverWasAskedBefore",
	},
	{
		Row: "scorer 1", Bug: "answers that hang on a carry are guessed",
		File: "internal/table/feature/scorer.go",
		Old:  `		if doubt&tops != 0 {`,
		New:  `		if doubt == ^uint64(0) {`,

		Package: "./internal/table/feature", Test: "TestAnswersEqualTheScorers",
	},
	{
		Row: "A12", Bug: "additive: the counts are not on the bill",
		File: "internal/learn/additive/bill.go",
		Old: `		*r.price = toPrice(parts[i])
`,
		New: `		*r.price = toPrice(parts[i])
		if r.price == &pl.prices.counts {
			continue
		}
`,

		Package: "./internal/learn/additive", Test: "TestConformance/add-remove,_bins_paid/bill_equals_releases",
	},
	{
		Row: "A26", Bug: "additive, more classes: the counts beside a label of more levels are not on the bill",
		File: "internal/learn/additive/bill.go",
		Old: `		*r.price = toPrice(parts[i])
`,
		New: `		*r.price = toPrice(parts[i])
		if pl.isMulticlass() && r.price == &pl.prices.counts {
			continue
		}
`,

		Package: "./internal/learn/additive", Test: "TestMulticlassConformance/add-remove,_bins_paid/bill_equals_releases",
	},
	{
		Row: "A15c", Bug: "additive: the cells of the finished score are not on the bill",
		File: "internal/learn/additive/bill.go",
		Old:  `	add(calibrationLabel, r.calibrationShare, &pl.prices.calibration)`,
		New:  `	pl.prices.calibration = guard.Share{Epsilon: pl.Epsilon}`,

		Package: "./internal/learn/additive", Test: "TestConformance/partly_private/bill_equals_releases",
	},
	{
		Row: "A15f", Bug: "additive: fewer rounds cost more than the bill's",
		File: "internal/learn/additive/calibrate.go",
		Old:  `	parts, err := dividePrice(all, list)`,
		New:  `	parts, err := dividePrice(all+all/2, list)`,

		Package: "./internal/learn/additive", Test: "TestRareClassesHaveFewerRounds",
	},
	{
		Row: "A15h", Bug: "additive: shares alone are counted with noise for twice what they cost",
		File: "internal/learn/additive/bill.go",
		Old:  `		return []release{{pl.classesLabel(), false, 1, &pl.prices.classes}}`,
		New: `		pl.prices.classes = guard.Share{Epsilon: 2 * pl.Epsilon}
		return []release{{pl.classesLabel(), false, 1, &guard.Share{}}}`,

		Package: "./internal/learn/additive", Test: "TestConformance/shares_alone/bill_equals_releases",
	},
	{
		Row: "A18", Bug: "additive: a private label's vectors are divided by the squares of their lengths",
		File: "internal/model/shrink/labelvectors.go",
		Old:  `		w := unitLength / math.Sqrt(square)`,
		New:  `		w := unitLength / square`,

		Package: "./internal/learn/additive", Test: "TestDeclaredSensitivityIsHeldAndReached",
	},
	{
		Row: "A14", Bug: "additive: caps forget what the weights see before a pair",
		File: "internal/learn/additive/binary.go",
		Old: `		r.weighSteps(k, floats.SubTo(make([]float64, len(sh.steps)), sh.steps, sh.weighing))
`,
		New: `		least, most := r.least, r.most
		r.weighSteps(k, floats.SubTo(make([]float64, len(sh.steps)), sh.steps, sh.weighing))
		r.least, r.most = least, most
`,

		Package: "./internal/learn/additive", Test: "TestBoundsOfWeightsBeforePairs",
	},
	{
		Row: "A15", Bug: "additive: a pair with one public column is taken for public",
		File: "internal/learn/additive/bins.go",
		Old:  `!slices.Contains(pl.public, p[0]) || !slices.Contains(pl.public, p[1])`,
		New:  `!slices.Contains(pl.public, p[0]) && !slices.Contains(pl.public, p[1])`,

		Package: "./internal/learn/additive", Test: "TestReplayNonInterference",
	},
	{
		Row: "A21", Bug: "additive, more classes: a row that says much about a weight is not shortened",
		File: "internal/table/engine/statistic/classslope.go",
		Old:  `1 / math.Max(a.most, math.Abs(first)+half)`,
		New:  `1 / a.most`,

		Package: "./internal/learn/additive", Test: "TestMulticlassDeclaredSensitivityIsHeldAndReached",
	},
	{
		Row: "A22", Bug: "additive, more classes: weights are not on the bill",
		File: "internal/learn/additive/bill.go",
		Old: `		*r.price = toPrice(parts[i])
`,
		New: `		*r.price = toPrice(parts[i])
		if len(pl.prices.weights) > 0 && r.price == &pl.prices.weights[0] {
			continue
		}
`,

		Package: "./internal/learn/additive", Test: "TestMulticlassConformance/add-remove,_weighed/bill_equals_releases",
	},
	{
		Row: "people 1", Bug: "noise of half the cap",
		File: "lab/internal/learn/people/smooth.go",
		Old:  `engine.WeightOne/float64(total)*(1+0x1p-50)`,
		New:  `engine.WeightOne/float64(2*total)*(1+0x1p-50)`,

		Package: "./lab/internal/learn/people", Test: "TestDeclaredSensitivityIsHeldAndReached",
	},
	{
		Row: "people 2", Bug: "the level is not found again after a vote",
		File: "lab/internal/learn/people/smooth.go",
		Old: `	s.reach += step
	s.projectMeasure()`,
		New: `	s.reach += step
	for side := range s.weight {
		s.sum[side] = 0
		for i, m := range s.margin {
			s.weight[side][i] = engine.Weight(m)
			s.sum[side] += s.weight[side][i] * s.patterns.Count[i]
		}
	}
	s.total, s.sum[1] = s.sum[0], s.sum[0]+1`,
		Package: "./lab/internal/learn/people", Test: "TestReplayNonInterference",
	},
	{
		Row: "people 3", Bug: "choice and error both at the round's full ε",
		File: "lab/internal/learn/people/params.go",
		Old:  `pl.share[t] = share{pick, each[t] - pick}`,
		New:  `pl.share[t] = share{each[t], each[t]}`,

		Package: "./lab/internal/learn/people", Test: "TestConformance/partly_private/bill_equals_releases",
	},
	{
		Row: "people 4", Bug: "choice without the 2 of 2Δ",
		File: "lab/internal/learn/people/fit.go",
		Old:  `pl.selectorFor(pl.share[t].pick, 2*moves)`,
		New:  `pl.selectorFor(pl.share[t].pick, moves)`,

		Package: "./lab/internal/learn/people", Test: "TestReplayNonInterference",
	},
	{
		Row: "people 5", Bug: "exact vote",
		File: "lab/internal/learn/people/fit.go",
		Old: `	return k, out[0], nil
}`,
		New: `	return k, out[0] + float64(wrong[k])/float64(total), nil
}`,
		Package: "./lab/internal/learn/people", Test: "TestReplayNonInterference",
	},
	{
		Row: "erm norm", Bug: "a model does not shorten the rows that its training shortened",
		File: "internal/learn/erm/fit.go",
		Old:  `		l.Norm = pl.Norm / scale`,
		New:  `		l.Norm = 0 * scale`,

		Package: "./internal/learn/erm", Test: "TestModelsShortenRowsAsTrainingDid",
	},
	{
		Row: "pate 1", Bug: "a teacher's vote is as long as its rows make it",
		File: "lab/internal/learn/pate/teachers.go",
		Old:  `length := max(r.voteNorm(vote), r.fullLength())`,
		New:  `length := max(r.voteNorm(vote)/2, r.fullLength())`,

		Package: "./lab/internal/learn/pate", Test: "TestAVoteIsNeverLongerThanOne",
	},
	{
		Row: "pate 2", Bug: "a row's own query is not paid for in full",
		File: "lab/internal/learn/pate/fit.go",
		Old:  `firstMove, secondMove, slopeMove = 0.5, 0.25, 1.0`,
		New:  `firstMove, secondMove, slopeMove = 0.07, 0.03, 1.0`,

		Package: "./lab/internal/learn/pate", Test: "TestReplayNonInterference",
	},
	{
		Row: "pate 2b", Bug: "Gaussian noise twice, each for all of (ε, δ)",
		File: "lab/internal/learn/pate/params.go",
		Old:  `	pl.worth.rho = all - pl.votes.rho`,
		New:  `	pl.worth.rho = all`,

		Package: "./lab/internal/learn/pate", Test: "TestGaussianNoiseIsCalibrated",
	},
	{
		Row: "pate 2c", Bug: "votes one long in L1 met by noise for L2, and cut by the largest entry",
		File: "lab/internal/learn/pate/teachers.go",
		Old:  `		squares += float64(x) * float64(x)`,
		New:  `		squares = max(squares, float64(x)*float64(x))`,

		Package: "./lab/internal/learn/pate", Test: "TestAVoteIsNeverLongerThanOne",
	},
	{
		Row: "pate 3", Bug: "a float sum over rows, whose order depends on cells",
		File: "lab/internal/learn/pate/fit.go",
		Old:  `	room := max(1, float64(r.sumSpreads())) / one`,
		New: `	room := 0.0
	for i := range r.rows {
		room += r.rows[i].p * (1 - r.rows[i].p)
	}`,
		Package: "./lab/internal/learn/pate", Test: "TestReplayNonInterference",
	},
	{
		Row: "pate 4", Bug: "rows are not dealt",
		File: "lab/internal/learn/pate/teachers.go",
		Old:  `	rng.Shuffle(src, len(r.rows), func(i, j int) { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] })`,
		New:  `	rng.Shuffle(src, len(r.rows)/2, func(i, j int) { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] })`,

		Package: "./lab/internal/learn/pate", Test: "TestDealIgnoresWhatIsInARow",
	},
	{
		Row: "pate 5", Bug: "the printed form for privacy",
		File: "lab/internal/learn/pate/params.go",
		Old:  `	case p.Form == Printed && !p.NotPrivate:`,
		New:  `	case false:`,

		Package: "./lab/internal/learn/pate", Test: "TestPlanRefuses",
	},
	{
		Row: "tune 1", Bug: "the trainings that lost are not paid for",
		File: "internal/tune/params.go",
		Old:  `		if shares, err = pl.Epsilon.Split(n); err != nil { // 1.3`,
		New:  `		if shares, err = (pl.Epsilon * dp.Epsilon(n)).Split(n); err != nil { // 1.3`,

		Package: "./internal/tune", Test: "TestConformance/all,_private_label_false/bill_equals_releases",
	},
	{
		Row: "tune 2", Bug: "a selection sized as if mistakes only went up",
		File: "internal/tune/params.go",
		Old:  `mech.PermuteAndFlipFor(pl.Epsilon, 2)`,
		New:  `mech.PermuteAndFlipFor(pl.Epsilon, 1)`,

		Package: "./internal/tune", Test: "TestConformance/all,_private_label_false/bill_equals_releases",
	},
	{
		Row: "tune 3", Bug: "random stopping for the price of one run",
		File: "internal/tune/stopping.go",
		Old:  `int64(eps) * l.den / (2*l.den + l.num)`,
		New:  `int64(eps) * l.den / (l.den + l.num - l.num)`,

		Package: "./internal/tune", Test: "TestConformance/geometric,_private_label_false/bill_equals_releases",
	},
	{
		Row: "tune 4", Bug: "rows are not dealt",
		File: "internal/tune/parts.go",
		Old:  `	rng.Shuffle(src, len(rows), func(i, j int) {`,
		New:  `	rng.Shuffle(src, 0, func(i, j int) {`,

		Package: "./internal/tune", Test: "TestDealIgnoresWhatIsInARow",
	},
	{
		Row: "tune 5", Bug: "another law of the number of runs than is priced",
		File: "internal/tune/stopping.go",
		Old:  `>= uint64(j*l.den+l.num) {`,
		New:  `>= uint64((j+1)*l.den) {`,

		Package: "./internal/tune", Test: "TestDrawHasTheLaw",
	},
	{
		Row: "tune 6", Bug: "training rows judge as well",
		File: "internal/tune/parts.go",
		Old:  `part(at, len(rows)), part(0, at)`,
		New:  `part(at, len(rows)), part(0, at+1)`,

		Package: "./internal/tune", Test: "TestDealIgnoresWhatIsInARow",
	},
	{
		Row: "tune 7", Bug: "the training table remembers numbers of judging rows",
		File: "internal/table/read/dataset/forget.go",
		Old:  `			t.Cols[j] = ownDictionary(c)`,
		New:  `			_, _ = j, ownDictionary(c)`,

		Package: "./internal/tune", Test: "TestTrainingForgetsWhatOthersHold",
	},
	{
		Row: "tune 8", Bug: "the exact loss decides",
		File: "internal/tune/fit.go",
		Old:  `pl.judge, loss)[0] // 1.6: rows meet noise`,
		New:  `pl.judge, loss)[0]*0 + loss.Float()`,

		Package: "./internal/tune", Test: "TestReplayNonInterference",
	},
	{
		Row: "tune 9", Bug: "a free candidate slips in",
		File: "internal/tune/params.go",
		Old:  `got != share {`,
		New:  `got > share {`,

		Package: "./internal/tune", Test: "TestPlanRefuses",
	},
	{
		Row: "tune 10", Bug: "the strongest of the candidates' guarantees is stated",
		File: "internal/tune/params.go",
		Old: `	case a == "" || scopeContains(a, b):
		return b, nil`,
		New: `	case a == "" || scopeContains(b, a):
		return b, nil`,

		Package: "./internal/tune", Test: "TestScopesHaveSomethingInCommon",
	},
	{
		Row: "tune 11", Bug: "a row's log loss has no bound",
		File: "internal/tune/loss.go",
		Old:  `	if !(p > 1.0/(1<<bits)) { // so that NaN has the greatest loss`,
		New:  `	if !(p > 1.0/(1<<40)) {`,

		Package: "./internal/tune", Test: "TestOneRowMovesALossByAtMostOne",
	},
	{
		Row: "tune 12", Bug: "pairs of rows are counted as if a row were in one",
		File: "internal/tune/loss.go",
		Old:  `mech.Ratio{Num: halves, Den: 2 * max(1, int64(len(labels)))}`,
		New:  `mech.Ratio{Num: halves, Den: 2}`,

		Package: "./internal/tune", Test: "TestOneRowMovesALossByAtMostOne",
	},
	{
		Row: "22", Bug: "the window holds a report with probability e^ε/(e^ε+1) instead of e^{ε/2}/(e^{ε/2}+1)",
		File: "internal/privacy/response/line.go",
		Old:  `	a, b := weightsFor(eps, max(inputBits+n, 2*n))`,
		New:  `	a, b := weightsFor(eps+eps/2, max(inputBits+n, 2*n)+n)`,

		Package: "./internal/train/audit", Test: "TestAuditsOfCorrectMechanisms/piecewise_at_1",
	},
	{
		Row: "23", Bug: "cells beyond the window overlap it",
		File: "internal/privacy/mech/sampled.go",
		Old:  `			return cell + l.Width`,
		New:  `			return cell`,

		Package: "./internal/privacy/mech", Test: "TestLineSampler",
	},
	{
		Row: "24", Bug: "a number beyond the ends is not clamped",
		File: "internal/privacy/mech/perturb.go",
		Old:  `math.RoundToEven(clampWeight(v, -1)*(unit/2))`,
		New:  `math.RoundToEven(v*(unit/2))`,

		Package: "./internal/privacy/mech", Test: "TestRoundingToPoints",
	},
	{
		Row: "25", Bug: "every told coordinate at the whole ε",
		File: "internal/privacy/response/sampled.go",
		Old:  `	part := eps / dp.Epsilon(told) // 2.1`,
		New:  `	part := eps // 2.1`,

		Package: "./internal/privacy/response", Test: "TestToldCoordinatesShareEpsilon",
	},
	{
		Row: "25b", Bug: "the same, from outside",
		File: "internal/privacy/response/sampled.go",
		Old:  `	part := eps / dp.Epsilon(told) // 2.1`,
		New:  `	part := eps // 2.1`,

		Package: "./internal/train/audit", Test: "TestAuditsOfCorrectMechanisms/piecewise-k2_at_1",
	},
	{
		Row: "26", Bug: "estimates without the factor d/k",
		File: "internal/privacy/response/sampled.go",
		Old:  `		out[j] *= l.untoldFactor() // 2.2`,
		New:  `		out[j] *= 1 // 2.2`,

		Package: "./internal/privacy/mech", Test: "TestSampledMeansAndVariances",
	},
	{
		Row: "local 1", Bug: "ties of Duchi's signs drawn as published",
		File: "internal/privacy/mech/duchi.go",
		Old:  `		case rng.Below(src, l.Inner+l.Outer) < 2*l.Outer: // 3.2`,
		New:  `		default: // 3.2`,

		Package: "./internal/train/audit", Test: "TestAuditsOfCorrectMechanisms/duchi_at_1",
	},
	{
		Row: "local 2", Bug: "odds rounded up",
		File: "internal/privacy/response/exp.go",
		Old:  `uint(expBits-shift)).Uint64(), 1 << shift`,
		New:  `uint(expBits-shift)).Uint64() + 1, 1 << shift`,

		Package: "./internal/privacy/response", Test: "TestOddsAreTheLargestThatKeepEpsilon",
	},
	{
		Row: "local 3", Bug: "a lie of OUE rounded down",
		File: "internal/privacy/response/exp.go",
		Old:  `	if r.Sign() > 0 {`,
		New:  `	if r.Sign() < 0 {`,

		Package: "./internal/privacy/response", Test: "TestOddsAreTheLargestThatKeepEpsilon",
	},
	{
		Row: "local 4", Bug: "the truth's bit keeps what the lie put there",
		File: "internal/privacy/mech/oue.go",
		Old:  `r[cell/32]&^(1<<at) | half<<at`,
		New:  `r[cell/32] | half<<at`,

		Package: "./internal/train/audit", Test: "TestAuditsOfCorrectMechanisms/oue_at_1",
	},
	{
		Row: "local 5", Bug: "noise of one coordinate on each of several",
		File: "internal/privacy/response/laplace.go",
		Old:  `bits.Mul64(uint64(dim)<<bit, dp.Nano)`,
		New:  `bits.Mul64(uint64(1)<<bit, dp.Nano)`,

		Package: "./internal/privacy/response", Test: "TestLaplaceReportsKeepEpsilon",
	},
	{
		Row: "local 6", Bug: "a weight is not thinned",
		File: "internal/privacy/mech/perturb.go",
		Old:  `!flipCoin(src, keep) {`,
		New:  `keep == 0 {`,

		Package: "./internal/privacy/mech", Test: "TestCellSamplers",
	},
	{
		Row: "27", Bug: "an owner answers in two rounds",
		File: "internal/net/federated/answer/owners.go",
		Old:  `		if place.Slot != p.Slot() {`,
		New:  `		if place.Slot%2 != p.Slot()%2 {`,

		Package: "./internal/net/federated/answer", Test: "TestOneReport",
	},
	{
		Row: "27b", Bug: "an owner answers a second broadcast of its slot",
		File: "internal/net/federated/answer/owners.go",
		Old:  `return g.Refused != nil || g.Round != round })`,
		New:  `return g.Refused != nil || g.Round != round && len(g.Report) == 0 })`,

		Package: "./internal/net/federated/answer", Test: "TestOneReport",
	},
	{
		Row: "27c", Bug: "a report leaves although the book has not kept it",
		File: "internal/net/federated/answer/owners.go",
		Old: `nothing leaves before
		return nil, err`,
		New: `nothing leaves before
		return given, err`,

		Package: "./internal/net/federated/answer", Test: "TestOneReport",
	},
	{
		Row: "27e", Bug: "a report leaves that its owner cannot afford",
		File: "internal/net/federated/answer/owners.go",
		Old:  `return g.Refused != nil || g.Round != round })`,
		New:  `return g.Round != round })`,

		Package: "./internal/net/federated/answer", Test: "TestOneReport",
	},
	{
		Row: "27f", Bug: "an owner gives shares to a second sum",
		File: "internal/net/federated/answer/owners.go",
		Old:  `	return p.commit(ctx, sum, owners, exit,`,
		New:  `	return p.commit(ctx, p.digest, owners, exit,`,

		Package: "./internal/net/federated/answer", Test: "TestOneAddend",
	},
	{
		Row: "27g", Bug: "a simulation asks an owner twice",
		File: "internal/net/federated/simulate/simulate.go",
		Old:  `		m[g.Owner] = true`,
		New:  `		m[g.Owner] = len(g.Report) > 0`,

		Package: "./internal/net/federated/simulate", Test: "TestMemoryRefusesASecondReport",
	},
	{
		Row: "27d", Bug: "a second report of an owner is counted",
		File: "internal/net/federated/collect/aggregator.go",
		Old: `		if before != content {
			return ErrTwice
		}
		return nil`,
		New: `		if before == content {
			return nil
		}`,

		Package: "./internal/net/federated/collect", Test: "TestReceiveRefuses",
	},
	{
		Row: "localboost 1", Bug: "the owner's cap on epsilon is not held",
		File: "internal/net/federated/answer/terms.go",
		Old:  `	if t.Epsilon > caps.Epsilon {`,
		New:  `	if t.Epsilon > 2*caps.Epsilon {`,

		Package: "./internal/net/federated/answer", Test: "TestOwnersRefuse",
	},
	{
		Row: "localboost 2", Bug: "a weight beyond W_t",
		File: "internal/net/federated/answer/weigh.go",
		Old:  `	return math.Min(math.Exp(log), w.bound) / w.bound`,
		New:  `	return math.Exp(log) / w.bound`,

		Package: "./internal/net/federated/answer", Test: "TestWeights",
	},
	{
		Row: "localboost 3", Bug: "the label beside the report",
		File: "internal/net/federated/answer/report.go",
		Old:  `Owner: name, Slot: p.round.Slot, Ask: ask, Words: words}, nil`,
		New:  `Owner: name, Slot: p.round.Slot, Ask: ask + int(p.recs.tab.Labels[row]), Words: words}, nil`,

		Package: "./internal/net/federated/answer", Test: "TestOnlyTheLawSeesTheRecord",
	},
	{
		Row: "localboost 4", Bug: "a report to a question of one's choice is counted",
		File: "internal/net/federated/collect/aggregator.go",
		Old:  `	case r.Slot != place.Slot || r.Ask != a.round.Ask(place.Ticket):`,
		New:  `	case r.Slot != place.Slot || r.Ask >= len(a.laws):`,

		Package: "./internal/net/federated/collect", Test: "TestReceiveRefuses",
	},
	{
		Row: "localboost 5", Bug: "a report that no owner sends is counted",
		File: "internal/net/federated/collect/aggregator.go",
		Old:  `	if err := law.Check(r.Words); err != nil {`,
		New:  `	if err := law.Check(r.Words); err != nil && len(r.Words) == 0 {`,

		Package: "./internal/net/federated/collect", Test: "TestReceiveRefuses",
	},
	{
		Row: "localboost 6", Bug: "SAMME's error unclamped",
		File: "internal/net/federated/collect/judge.go",
		Old:  `	err = math.Min(math.Max(err, clamp), 1-clamp)`,
		New:  `	err = math.Min(math.Max(err, clamp-clamp), 1)`,

		Package: "./internal/net/federated/collect", Test: "TestVote",
	},
	{
		Row: "localboost 7", Bug: "an owner in one cell fewer than the secret sum is sized for",
		File: "internal/net/federated/wire/round.go",
		Old:  `response.CellAddendFor(t.Epsilon, dim, most, r.Crowd`,
		New:  `response.CellAddendFor(t.Epsilon, dim, most-1+1/most, r.Crowd`,

		Package: "./internal/net/federated/simulate", Test: "TestAggregateLearns",
	},
	{
		Row: "levels 1", Bug: "each of K fits has the noise of the whole ε",
		File: "internal/learn/erm/oneversusrest.go",
		Old:  `part.Epsilon, part.of = share,`,
		New:  `part.Epsilon, part.of = pl.Epsilon+0*share,`,

		Package: "./internal/learn/erm", Test: "TestEveryFitPaysItsPart",
	},
	{
		Row: "blocks 1", Bug: "noise in blocks for one of the two rows of a replacement",
		File: "internal/guard/perturbed/noise.go",
		Old:  `ObjectiveBlocksFor(eps, 2*u.cell, jacobian, u.blocks)`,
		New:  `ObjectiveBlocksFor(eps, u.cell, jacobian, u.blocks)`,

		Package: "./internal/guard/perturbed", Test: "TestOneRowMovesTheGradientNoFurtherThanDeclared",
	},
	{
		Row: "blocks 2", Bug: "noise in blocks of the gamma law of shape d, not d+1",
		File: "internal/privacy/mech/blocks.go",
		Old:  `	length := drawExponential(src)`,
		New:  `	length := 0.0`,

		Package: "./internal/privacy/mech", Test: "TestBlocksLength",
	},
	{
		Row: "threshold 3", Bug: "rows are counted by shortened scores, which the model does not use",
		File: "internal/table/engine/kernel/right.go",
		Old:  `	plain.factor = nil`,
		New:  `	plain.factor = m.factor`,

		Package: "./internal/learn/erm", Test: "TestThresholdIsWhereTheModelIsRight",
	},
	{
		Row: "levels 2", Bug: "a row counts as often as its weight says, the noise is for once",
		File: "internal/table/schema/schema.go",
		Old:  `w[k] /= most`,
		New:  `w[k] /= 1 + 0*most`,

		Package: "./internal/guard/perturbed", Test: "TestWeightsDoNotRaiseTheSensitivity",
	},
	{
		Row: "levels 3", Bug: "labeldp: a changed label is priced as if it left one level and entered none",
		File: "internal/learn/labeldp/levels.go",
		Old:  `return 2, math.Sqrt2 * (1 + 0x1p-50)`,
		New:  `return 1, math.Sqrt2 - 0.4142`,

		Package: "./internal/learn/labeldp", Test: "TestReplayNonInterferenceOfLevels",
	},
	{
		Row: "derived 1", Bug: "what follows from a private column and a public one is public",
		File: "internal/table/schema/derived.go",
		Old:  `if from.Role != Public {`,
		New:  `if len(c.From) == 0 && from.Role != Public {`,

		Package: "./internal/table/schema", Test: "TestWhatFollowsFromAPrivateColumnIsPrivate",
	},
	{
		Row: "derived 2", Bug: "a table is built of a public column that follows from a private one",
		File: "internal/table/read/coding/row.go",
		Old:  `if private && c.Role != schema.Private {`,
		New:  `if private && c.Role == schema.Ignored {`,

		Package: "./internal/table/read/dataset", Test: "TestDerivedColumnsThatNoFileDeclares",
	},
	{
		Row: "secsum 1", Bug: "a polynomial of one degree too few",
		File: "internal/net/federated/secsum/shamir.go",
		Old:  `	for range s.quorum() - 1 {`,
		New:  `	for range s.quorum() - 2 {`,

		Package: "./internal/net/federated/secsum", Test: "TestShamirCoalitionSeesUniformShares",
	},
	{
		Row: "secsum 2", Bug: "a holder answers two requests",
		File: "internal/net/federated/secsum/holder.go",
		Old:  `	if h.answer != nil {`,
		New:  `	if h.answer != nil && bytes.Equal(h.asked, m.Body) {`,

		Package: "./internal/net/federated/secsum", Test: "TestHoldersAnswerOnce",
	},
	{
		Row: "secsum 3", Bug: "the sum of one owner is opened",
		File: "internal/net/federated/secsum/holder.go",
		Old:  `	if len(list) < h.p.task.AtLeast { // 1.3`,
		New:  `	if len(list) < 1 { // 1.3`,

		Package: "./internal/net/federated/secsum", Test: "TestHoldersAnswerOnce",
	},
	{
		Row: "secsum 4", Bug: "a sum may overflow",
		File: "internal/net/federated/secsum/task.go",
		Old:  `hi != 0 || lo > maxSum {`,
		New:  `hi != 0 && lo > maxSum {`,

		Package: "./internal/net/federated/secsum", Test: "TestOverflowIsImpossible",
	},
	{
		Row: "secsum 6", Bug: "noise for more honest owners than are left",
		File: "internal/privacy/mech/addend.go",
		Old:  `noiseShare(src, uint64(l.Survivors), l.Scale)`,
		New:  `noiseShare(src, 2*uint64(l.Survivors), l.Scale)`,

		Package: "./internal/privacy/mech", Test: "TestAddendsCarryTheirShareOfNoise",
	},
	{
		Row: "secsum 7", Bug: "noise for one coordinate on each of many",
		File: "internal/privacy/response/addend.go",
		Old:  `bits.Mul64(apart(l.Steps), dp.Nano)`,
		New:  `bits.Mul64(l.Steps, dp.Nano)`,

		Package: "./internal/privacy/response", Test: "TestAddendsKeepEpsilon",
	},
	{
		Row: "secsum 9", Bug: "coordinates packed without room for the sum",
		File: "internal/net/federated/secsum/shamir.go",
		Old:  `bits.Len64(uint64(t.Owners)*(t.Range-1)), t.makeTag`,
		New:  `bits.Len64(t.Range-1), t.makeTag`,

		Package: "./internal/net/federated/secsum", Test: "TestOverflowIsImpossible",
	},
	{
		Row: "secsum 10", Bug: "an owner counts whose shares only some holders have",
		File: "internal/net/federated/secsum/collector.go",
		Old:  `ContainsFunc(c.from, func(holder int) bool { return has`,
		New:  `ContainsFunc(c.from[:1], func(holder int) bool { return has`,

		Package: "./internal/net/federated/secsum", Test: "TestSumsAreExactUnderDropouts/shamir",
	},
	{
		Row: "secsum 11", Bug: "a share that contradicts its proof is taken",
		File: "internal/net/federated/secsum/proof.go",
		Old:  `holder, points); err != nil || !ok { // 4.2`,
		New:  `holder, points); err != nil && !ok { // 4.2`,

		Package: "./internal/net/federated/secsum", Test: "TestInconsistentSharesAreLeftOut",
	},
	{
		Row: "tag secsum 6.1", Bug: "digits reach one number beyond the range",
		File: "internal/net/federated/flp/ranges.go",
		Old:  `	return append(digits, Digit{int(count), 1})`,
		New:  `	return append(digits, Digit{int(count) + 1, 1})`,

		Package: "./internal/net/federated/flp", Test: "TestDigitsAreExact",
	},
	{
		Row: "tag secsum 6.2", Bug: "what holders find together is not what a valid vector gives",
		File: "internal/net/federated/flp/flp.go",
		Old:  `	return append(answer, s.circuit.Gadget(wires, joint))`,
		New:  `	return append(answer, make([]E, 1)...)`,

		Package: "./internal/net/federated/flp", Test: "TestRangesAreProven",
	},
	{
		Row: "tag secsum 6.3", Bug: "digits that each holder sees",
		File: "internal/net/federated/secsum/ranges.go",
		Old:  `		out = append(out, drawScalars(src, len(values)))`,
		New:  `		out = append(out, make([]flp.Scalar, len(values)))`,

		Package: "./internal/net/federated/secsum", Test: "TestStatementsShowNothing",
	},
	{
		Row: "tag secsum 6.4", Bug: "a point that an owner foresees",
		File: "internal/net/federated/secsum/ranges.go",
		Old:  `	c.query = append(c.query, r.draw(owner, forPoint, hashes))`,
		New:  `	c.query = append(c.query, r.draw(owner, forPoint, nil))`,

		Package: "./internal/net/federated/secsum", Test: "TestNothingIsForeseen",
	},
	{
		Row: "tag secsum 6.5", Bug: "a holder's answer that is no part of what its owner states",
		File: "internal/net/federated/secsum/ranges.go",
		Old:  `	if !answer.IsEqual(&want) { // 6.5`,
		New:  `	if answer.IsZero() && !answer.IsEqual(&want) { // 6.5`,

		Package: "./internal/net/federated/secsum", Test: "TestOutOfRangeIsLeftOut",
	},
	{
		Row: "secsum 26", Bug: "digits that are not those of the numbers",
		File: "internal/net/federated/secsum/ranges.go",
		Old:  `	if !bytes.Equal(appendScalars(nil, r.packDigits(digits)), packed) {`,
		New:  `	if len(digits) == len(packed) {`,

		Package: "./internal/net/federated/secsum", Test: "TestDigitsAreTheNumbers",
	},
	{
		Row: "secsum 28", Bug: "wires that no seed hides",
		File: "internal/net/federated/secsum/ranges.go",
		Old:  `drawScalars(src, r.system.Seeds())`,
		New:  `make([]flp.Scalar, r.system.Seeds())`,

		Package: "./internal/net/federated/secsum", Test: "TestStatementsShowNothing",
	},
	{
		Row: "secsum 27", Bug: "a statement that its owner has not signed",
		File: "internal/net/federated/secsum/ranges.go",
		Old:  `digest := sha256.Sum256(statement); !bytes.Equal(digest[:], s.statedIn(proof)) {`,
		New:  `digest := sha256.Sum256(statement); len(digest) != len(s.statedIn(proof)) {`,

		Package: "./internal/net/federated/secsum", Test: "TestStatementsAreBound",
	},
	{
		Row: "secsum 12", Bug: "one generator for all coordinates",
		File: "internal/net/federated/secsum/pedersen.go",
		Old:  `AppendUint32(nil, uint32(i)), []byte(generatorLabel))`,
		New:  `AppendUint32(nil, uint32(min(i, 1))), []byte(generatorLabel))`,

		Package: "./internal/net/federated/secsum", Test: "TestProofsAreBound",
	},
	{
		Row: "tag secsum 5.1", Bug: "a helper's answer is not held against the owners' commitments",
		File: "internal/net/federated/secsum/proof.go",
		Old:  `	return s.opensAt(bound, holder, points)`,
		New: `	_, err = s.opensAt(bound, holder, points)
	return true, err`,

		Package: "./internal/net/federated/secsum", Test: "TestALyingAnswerIsNamed",
	},
	{
		Row: "secsum 21", Bug: "proofs are added up that no helper has claimed",
		File: "internal/net/federated/secsum/collector.go",
		Old:  `!bytes.Equal(digest[:], c.held[m.From][o]) {`,
		New:  `len(digest) != len(c.held[m.From][o]) {`,

		Package: "./internal/net/federated/secsum", Test: "TestProofsAreShownAsTheyWereHeld",
	},
	{
		Row: "secsum 22", Bug: "the last answer completes a sum although one before it lied",
		File: "internal/net/federated/secsum/collector.go",
		Old:  `	if len(c.sums) < c.p.quorum() {`,
		New:  `	if len(c.sums)+len(c.liars) < c.p.quorum() {`,

		Package: "./internal/net/federated/secsum", Test: "TestALyingAnswerIsNamed",
	},
	{
		Row: "secsum 23", Bug: "proofs are taken that their owners have not signed",
		File: "internal/net/service/secretsum/fault.go",
		Old:  `ok && p.By(c.Sum.Roster[of]) {`,
		New:  `ok && len(c.Sum.Roster) > 0 {`,

		Package: "./internal/net/service/helper", Test: "TestProofsAreSigned",
	},
	{
		Row: "secsum 13", Bug: "a proof that nothing blinds",
		File: "internal/net/federated/secsum/shamir.go",
		Old:  `s.drawPolynomial(src, group.Ristretto255.RandomScalar(reader{src}))} // blind`,
		New:  `s.drawPolynomial(src, group.Ristretto255.NewScalar())} // blind`,

		Package: "./internal/net/federated/secsum", Test: "TestProofsShowNothing",
	},
	{
		Row: "secsum 14", Bug: "two tales of one owner are not compared",
		File: "internal/net/federated/secsum/collector.go",
		Old:  `if e := h[o]; e != nil && string(e) == most {`,
		New:  `if e := h[o]; e != nil && most != "" {`,

		Package: "./internal/net/federated/secsum", Test: "TestTwoTalesAreToldApart",
	},
	{
		Row: "secsum 15", Bug: "an owner gives shares beside owners whom nobody listed",
		File: "internal/net/service/tasks/secret.go",
		Old:  `		if !list.Has(k) {`,
		New:  `		if !list.Has(k) && len(list) == 0 {`,

		Package: "./internal/net/service/tasks", Test: "TestOwnersCheckSums",
	},
	{
		Row: "secsum 16", Bug: "a helper begins a sum of owners whom nobody listed",
		File: "internal/net/service/secretsum/admission.go",
		Old:  `		if !isListed(a.List, k) {`,
		New:  `		if !isListed(a.List, k) && len(a.List) == 0 {`,

		Package: "./internal/net/service/aggregator", Test: "TestInventedOwnersGetNothing",
	},
	{
		Row: "secsum 17", Bug: "noise that counts on owners who need not be honest",
		File: "internal/net/service/tasks/secret.go",
		Old:  `return wire.AtLeastOf(owners) - (listed - a.Honest)`,
		New:  `return wire.AtLeastOf(owners) - (listed-a.Honest)/2`,

		Package: "./internal/net/service/tasks", Test: "TestHonestOwnersSuffice",
	},
	{
		Row: "secsum 18", Bug: "an owner pays for a sum that too few helpers hold",
		File: "internal/net/service/owner/shares.go",
		Old:  `	return missing <= 0, ctx.Err()`,
		New:  `	return true, ctx.Err()`,

		Package: "./internal/net/service/aggregator", Test: "TestHelpersThatAreNotThere",
	},
	{
		Row: "secsum 19", Bug: "a key that anybody can sign for",
		File: "internal/ground/edkey/edkey.go",
		Old:  `		if slices.Equal(y, s) {`,
		New:  `		if slices.Equal(y, s) && y[0] > 1 {`,

		Package: "./internal/ground/edkey", Test: "TestSmallOrder",
	},
	{
		Row: "secsum 8", Bug: "an urn that forgets what was drawn",
		File: "internal/privacy/mech/addend.go",
		Old:  `p.drawBelow(some+parts*x, parts*(j+1))`,
		New:  `p.drawBelow(some+0*j, parts)`,

		Package: "./internal/privacy/mech", Test: "TestPolyaLaw",
	},
	{
		Row: "28", Bug: "majority votes with the noise of soft ones",
		File: "internal/net/federated/multiparty/params.go",
		Old: `	if p.Method == Majority {
		return 1
	}
	return 1 / float64(p.Parties)`,
		New: `	return 1 / float64(p.Parties)`,

		Package: "./internal/net/federated/multiparty", Test: "TestOnePartyMovesNothingFurther",
	},
	{
		Row: "multiparty 1", Bug: "more than two levels without the root of 2",
		File: "internal/net/federated/multiparty/params.go",
		Old:  `		return math.Sqrt2`,
		New:  `		return math.Sqrt2 / math.Sqrt2`,

		Package: "./internal/net/federated/multiparty", Test: "TestSensitivityIsReached",
	},
	{
		Row: "multiparty 2", Bug: "an absent party changes the denominator",
		File: "internal/net/federated/multiparty/tally.go",
		Old:  `constant := uint64(t.pl.Parties-len(t.parties)) * One`,
		New:  `constant := uint64(t.pl.Parties-t.pl.Parties) * One`,

		Package: "./internal/net/federated/multiparty", Test: "TestStatisticIsTheNaiveMean",
	},
	{
		Row: "multiparty 3", Bug: "coefficients not clipped",
		File: "internal/net/federated/multiparty/tally.go",
		Old:  `	if length*largest <= bound*(1-0x1p-30) {`,
		New:  `	if length*largest <= bound*(1-0x1p-30) || true {`,

		Package: "./internal/net/federated/multiparty", Test: "TestAverage",
	},
	{
		Row: "multiparty 4", Bug: "answers priced for a vote that only appears",
		File: "internal/net/federated/multiparty/queries.go",
		Old:  `const spread = 2`,
		New:  `const spread = 1`,

		Package: "./internal/net/federated/multiparty", Test: "TestOnePartyMovesNothingFurther",
	},
	{
		Row: "multiparty 5", Bug: "an eigenvalue from below",
		File: "internal/net/federated/multiparty/shape.go",
		Old:  `	return hi * (1 + float64(d)*float64(d)*0x1p-50)`,
		New:  `	return b.At(0, 0)`,

		Package: "./internal/net/federated/multiparty", Test: "TestLargestIsAnUpperBound",
	},
	{
		Row: "multiparty 6", Bug: "the ridge ignores that a minimum moves by more",
		File: "internal/net/federated/multiparty/combine.go",
		Old:  `/ pl.reg() * (1 + 0x1p-40)`,
		New:  `* (1 + 0x1p-40)`,

		Package: "./internal/net/federated/multiparty", Test: "TestOnePartyMovesNothingFurther",
	},
	{
		Row: "multiparty 7", Bug: "a file's signature is not looked at",
		File: "internal/net/federated/multiparty/read.go",
		Old:  `&ed25519.Options{Hash: crypto.SHA512}); err != nil {`,
		New:  `&ed25519.Options{Hash: crypto.SHA512}); err != nil && v.left > 0 {`,

		Package: "./internal/net/federated/multiparty", Test: "TestTallyRefuses",
	},
	{
		Row: "parties 1", Bug: "a party's lifetime is checked query by query",
		File: "internal/net/service/party/record.go",
		Old:  `	if err == nil && eps > r.lifetime-spent {`,
		New:  `	if err == nil && eps > r.lifetime {`,

		Package: "./internal/net/service/party", Test: "TestOneQueryOneAnswer",
	},
	{
		Row: "parties 2", Bug: "a query is answered anew after its votes were deleted",
		File: "internal/net/service/party/record.go",
		Old:  `		case paid && state == forgotten:`,
		New:  `		case paid && state == 0:`,

		Package: "./internal/net/service/party", Test: "TestVotesAreForgotten",
	},
	{
		Row: "parties 3", Bug: "a query that another combiner has signed is answered",
		File: "internal/net/service/party/calls.go",
		Old:  `	case signer != who:`,
		New:  `	case signer.Role != who.Role:`,

		Package: "./internal/net/service/party", Test: "TestForgeries",
	},
	{
		Row: "parties 4", Bug: "a query under another schema is answered",
		File: "internal/net/service/party/calls.go",
		Old:  `	case q.Schema != s.Schema:`,
		New:  `	case q.Schema != s.Schema && q.Job == "":`,

		Package: "./internal/net/service/party", Test: "TestRefusals",
	},
	{
		Row: "parties 5", Bug: "a party's cap on one query is that on all",
		File: "internal/net/service/party/calls.go",
		Old:  `	case s.priceQuery(q) > s.MaxEpsilon:`,
		New:  `	case s.priceQuery(q) > s.Lifetime:`,

		Package: "./internal/net/service/party", Test: "TestRefusals",
	},
	{
		Row: "parties 6", Bug: "any combiner of the authority is answered",
		File: "internal/net/service/party/server.go",
		Old:  ` Names: p.Combiners,`,
		New:  ``,

		Package: "./internal/net/service/party", Test: "TestRefusals",
	},
	{
		Row: "parties 7", Bug: "a kind that is not allowed is handed in",
		File: "internal/net/service/party/calls.go",
		Old:  `	case q.Honest == 0 && !slices.Contains(s.Kinds, q.Kind):`,
		New:  `	case q.Honest < 0 && !slices.Contains(s.Kinds, q.Kind):`,

		Package: "./internal/net/service/party", Test: "TestRefusals",
	},
	{
		Row: "parties 8", Bug: "a file that was sent is not held against its digest",
		File: "internal/net/service/party/shelf.go",
		Old:  `		if left > 0 || multiparty.Digest(h.Sum(nil)) != t.Digest {`,
		New:  `		if left > 0 {`,

		Package: "./internal/net/service/party", Test: "TestOtherTablesAreRefused",
	},
	{
		Row: "parties 9", Bug: "votes under another key count for a party",
		File: "internal/net/service/party/ask.go",
		Old:  `	if h.Party != a.peer.Name || h.Key != a.peer.Key {`,
		New:  `	if h.Party != a.peer.Name {`,

		Package: "./internal/net/service/party", Test: "TestLiarsAreAbsent",
	},
	{
		Row: "parties 10", Bug: "a party adds to a sum about another query",
		File: "internal/net/service/party/secret.go",
		Old:  `	case announced.Topic != sha256.Sum256(text):`,
		New:  `	case announced.Topic == [32]byte{} && len(text) == 0:`,

		Package: "./internal/net/service/party", Test: "TestSumsThatAreRefused",
	},
	{
		Row: "parties 11", Bug: "a party gives shares to helpers that its operator has not named",
		File: "internal/net/service/party/secret.go",
		Old:  `		if s.Helpers[h.Name] == "" {`,
		New:  `		if h.Name == "" {`,

		Package: "./internal/net/service/party", Test: "TestSumsThatAreRefused",
	},
	{
		Row: "parties 12", Bug: "a sum may be of fewer than add their noise",
		File: "internal/net/service/party/secret.go",
		Old:  `	if q.Honest > announced.AtLeast-idle {`,
		New:  `	if q.Honest > s.Honest {`,

		Package: "./internal/net/service/party", Test: "TestNoiseIsCountedOnAsOperatorsSay",
	},
	{
		Row: "parties 12b", Bug: "a party adds up with parties that its combiner has invented",
		File: "internal/net/service/party/secret.go",
		Old:  `		if !s.Peers.Has(k) {`,
		New:  `		if k == (secretsum.Key{}) {`,

		Package: "./internal/net/service/party", Test: "TestInventedPartiesAreRefused",
	},
	{
		Row: "clients 1", Bug: "a client goes where a server sends it",
		File: "internal/net/service/identity/http.go",
		Old:  `	if answer.StatusCode >= 300 && answer.StatusCode < 400 {`,
		New:  `	if answer.StatusCode == 399 {`,

		Package: "./internal/net/service/identity", Test: "TestMisfits",
	},
	{
		Row: "parties 13", Bug: "a party adds to a sum of another range",
		File: "internal/net/service/party/server.go",
		Old:  `	case w.sum != nil && (length != w.sum.Length || below != w.sum.Range): // 5.4`,
		New:  `	case w.sum != nil && length != w.sum.Length:`,

		Package: "./internal/net/service/party", Test: "TestSumsOfAnotherShape",
	},
	{
		Row: "parties 14", Bug: "shares are split anew when they are asked for again",
		File: "internal/net/service/party/calls.go",
		Old:  `	if _, err := os.Stat(s.votesPath(w.id)); err == nil {`,
		New:  `	if _, err := os.Stat(s.votesPath(w.id)); err == nil && w.sum == nil {`,

		Package: "./internal/net/service/party", Test: "TestSharesAreSplitOnce",
	},
	{
		Row: "parties 15", Bug: "a second sum about a query costs nothing",
		File: "internal/net/service/party/secret.go",
		Old:  `		id = sha256.Sum256(slices.Concat(id[:], sumID[:]))`,
		New:  `		id = sha256.Sum256(slices.Concat(id[:], sumID[:0]))`,

		Package: "./internal/net/service/party", Test: "TestEachSumHasItsPrice",
	},
	{
		Row: "parties 16", Bug: "an answer is drawn before it is paid for",
		File: "internal/net/federated/multiparty/queries.go",
		Old:  `	if q.acct != nil && !q.t.pl.NotPrivate {`,
		New:  `	if q.acct != nil && q.t.pl.NotPrivate {`,

		Package: "./internal/net/federated/multiparty", Test: "TestUnpaidAnswersAreNotDrawn",
	},
	{
		Row: "parties 17", Bug: "a secret sum is used that nobody was charged for",
		File: "internal/net/federated/multiparty/secret.go",
		Old:  `	case s.paid == nil:`,
		New:  `	case s.paid == nil && parties == 0:`,

		Package: "./internal/net/federated/multiparty", Test: "TestSecretSum",
	},
	{
		Row: "service 1", Bug: "a report's signature is not checked",
		File: "internal/net/service/aggregator/upload.go",
		Old:  `	if !ed25519.Verify(key[:], tasks.Signable(raw), signed.GetSignature()) {`,
		New:  `	if !ed25519.Verify(key[:], tasks.Signable(raw), signed.GetSignature()) && len(raw) == 0 {`,

		Package: "./internal/net/service/aggregator", Test: "TestHostileReportsAreRefused",
	},
	{
		Row: "service 2", Bug: "an owner's place is not checked: one owner in two rounds",
		File: "internal/net/service/aggregator/upload.go",
		Old:  `	if rep.Slot != place.Slot {`,
		New:  `	if rep.Slot > 1<<15 {`,

		Package: "./internal/net/service/aggregator", Test: "TestHostileReportsAreRefused",
	},
	{
		Row: "service 3", Bug: "a sealed round takes reports",
		File: "internal/net/service/aggregator/store/reports.go",
		Old:  `	if state == Open && *room > 0 {`,
		New:  `	if (state == Open || state == Sealed) && *room > 0 {`,

		Package: "./internal/net/service/aggregator/store", Test: "TestLifeOfATask",
	},
	{
		Row: "service 4", Bug: "a round is sealed short of its minimum",
		File: "internal/net/service/aggregator/store/store.go",
		Old:  `		case n < least:`,
		New:  `		case n < least && n < 0:`,

		Package: "./internal/net/service/aggregator/store", Test: "TestLifeOfATask",
	},
	{
		Row: "service 5", Bug: "reports are sent before they are in the book",
		File: "internal/net/federated/answer/owners.go",
		Old:  `	if err := p.owners.book.Commit(ctx, given); err != nil {`,
		New: `	context.AfterFunc(ctx, func() { p.owners.book.Commit(context.WithoutCancel(ctx), slices.Clone(given)) })
	if err := ctx.Err(); err != nil {`,

		Package: "./internal/net/service/aggregator", Test: "TestBookBeforeTheWire",
	},
	{
		Row: "service 6", Bug: "reports are acknowledged before they are on disk",
		File: "internal/net/service/aggregator/writer.go",
		Old:  `	outcomes, err := w.store.Accept(ctx, all)`,
		New: `	outcomes, err := make([]store.Outcome, len(all)), error(nil)
	for i := range outcomes {
		outcomes[i] = store.Stored
	}
	go func() { _, _ = w.store.Accept(ctx, all) }()`,

		Package: "./internal/net/service/aggregator", Test: "TestNothingIsAcknowledgedBeforeTheDisk",
	},
	{
		Row: "service 7", Bug: "an owner gives a second report for a task",
		File: "internal/net/service/owner/spending/book.go",
		Old:  `		case found: // 2.2`,
		New:  `		case found && e.Report == nil: // 2.2`,

		Package: "./internal/net/service/owner/spending", Test: "TestOwnersGiveOnce",
	},
	{
		Row: "service 8", Bug: "what one owner gave is not counted against its lifetime",
		File: "internal/net/service/owner/spending/book.go",
		Old:  `g.Cost > b.cap-spent[g.Owner]:`,
		New:  `g.Cost > b.cap:`,

		Package: "./internal/net/service/owner/spending", Test: "TestOwnersGiveOnce",
	},
	{
		Row: "service 9", Bug: "a stranger's report is taken",
		File: "internal/net/service/aggregator/upload.go",
		Old:  `	if l.roster != nil && !l.roster.Has(key) {`,
		New:  `	if l.roster != nil && !l.roster.Has(key) && len(raw) == 0 {`,

		Package: "./internal/net/service/aggregator", Test: "TestSybilsAreRefused",
	},
	{
		Row: "service 10", Bug: "a list of owners that nobody has signed is stored",
		File: "internal/net/service/tasks/secret.go",
		Old:  `	case r.Digest() != a.Roster:`,
		New:  `	case r.Len() > MaxRoster:`,

		Package: "./internal/net/service/aggregator", Test: "TestUnsafeRostersAreRefused",
	},
	{
		Row: "service 11", Bug: "an owner believes whatever list it is shown",
		File: "internal/net/service/owner/owner.go",
		Old:  `err = r.ann.CheckRoster(roster)`,
		New:  `_ = r.ann.CheckRoster(roster)`,

		Package: "./internal/net/service/aggregator", Test: "TestOwnersLookForThemselves",
	},
	{
		Row: "service 12", Bug: "who is not on the list pays all the same",
		File: "internal/net/service/owner/owner.go",
		Old:  `		if r.roster != nil && !r.roster.Has(r.keys.Public(i)) {`,
		New:  `		if r.roster != nil && !r.roster.Has(r.keys.Public(i)) && r.Owners < 1 {`,

		Package: "./internal/net/service/aggregator", Test: "TestOwnersLookForThemselves",
	},
	{
		Row: "service 13", Bug: "refusals quote the message",
		File: "internal/net/service/problem/handler.go",
		Old:  `		if kind := h.refusalKind(); kind != (Kind{}) {`,
		New:  `		if kind := h.refusalKind(); kind != (Kind{}) && h.reached {`,

		Package: "./internal/net/service/problem", Test: "TestConnectsOwnRefusalsAreProblems",
	},
	{
		Row: "service 14", Bug: "whoever has a certificate may do everything",
		File: "internal/net/service/admission/gate.go",
		Old:  `		case !slices.Contains(roles, who.Role), g.Names`,
		New:  `		case !slices.Contains(roles, who.Role) && len(roles) == 0, g.Names`,

		Package: "./internal/net/service/aggregator", Test: "TestRolesAreKept",
	},
	{
		Row: "secret sums 1", Bug: "a helper answers a second request",
		File: "internal/net/service/helper/store.go",
		Old:  `AND state = ? AND asked IS NULL`,
		New:  `AND state >= ?`,

		Package: "./internal/net/service/helper", Test: "TestEveryCallMayFail",
	},
	{
		Row: "secret sums 2", Bug: "a helper without its memory begins a sum again",
		File: "internal/net/service/helper/server.go",
		Old:  `		if h.Memory != s.Store.memory {`,
		New:  `		if h.Memory != s.Store.memory && i < 0 {`,

		Package: "./internal/net/service/helper", Test: "TestForgottenMemory",
	},
	{
		Row: "secret sums 3", Bug: "any aggregator opens a sum",
		File: "internal/net/service/helper/server.go",
		Old:  `	case admission.Caller(ctx) != l.Collector:`,
		New:  `	case admission.Caller(ctx).Role != l.Collector.Role:`,

		Package: "./internal/net/service/helper", Test: "TestRolesAreKept",
	},
	{
		Row: "secret sums 4", Bug: "a share's signature is not checked",
		File: "internal/net/service/helper/server.go",
		Old:  `err != nil || !proof.By(l.Roster[m.From]) {`,
		New:  `err != nil || !proof.By(l.Roster[m.From]) && m.From < 0 {`,

		Package: "./internal/net/service/helper", Test: "TestHostileShares",
	},
	{
		Row: "secret sums 5", Bug: "a participant shares twice",
		File: "internal/net/service/helper/store.go",
		Old:  `			case found && bytes.Equal(before, d[:]):`,
		New:  `			case found && bytes.Equal(before[:0], d[:0]):`,

		Package: "./internal/net/service/helper", Test: "TestHostileShares",
	},
	{
		Row: "secret sums 6", Bug: "shares are kept when the sum is opened",
		File: "internal/net/service/helper/store.go",
		Old:  `SET body = NULL WHERE sum`,
		New:  `SET body = body WHERE sum`,

		Package: "./internal/net/service/helper", Test: "TestForgetting",
	},
	{
		Row: "secret sums 7", Bug: "a signature of another purpose is a collector's",
		File: "internal/net/service/secretsum/sign.go",
		Old:  `	who, err := reader.Verify(s.Signature, Purpose, s.Bytes, at)`,
		New:  `	who, err := reader.Verify(s.Signature, "discreet announcement 1", s.Bytes, at)`,

		Package: "./internal/net/service/secretsum", Test: "TestSignatures",
	},
	{
		Row: "secret sums 8", Bug: "owners do not look who the helpers are",
		File: "internal/net/service/tasks/secret.go",
		Old:  `	case !slices.Equal(names, announced):`,
		New:  `	case slices.Compare(names, announced) != 0 && len(names) != len(announced):`,

		Package: "./internal/net/service/tasks", Test: "TestOwnersCheckSums",
	},
	{
		Row: "secret sums 9", Bug: "owners do not count the roster",
		File: "internal/net/service/tasks/secret.go",
		Old:  `	case len(s.Roster) < a.Minimum:`,
		New:  `	case len(s.Roster) < 2:`,

		Package: "./internal/net/service/tasks", Test: "TestOwnersCheckSums",
	},
	{
		Row: "secret sums 10", Bug: "an owner gives shares that are not in its book",
		File: "internal/net/federated/answer/owners.go",
		Old:  `	if err := p.owners.book.Commit(ctx, given); err != nil {`,
		New:  `	if err := ctx.Err(); err != nil {`,

		Package: "./internal/net/service/aggregator", Test: "TestSecretSumsOverTheNetwork",
	},
	{
		Row: "secret sums 11", Bug: "an owner is taken into a mode it has not agreed to",
		File: "internal/net/service/owner/owner.go",
		Old:  `	if ann.Task.Mode != r.Mode {`,
		New:  `	if ann.Task.Mode != r.Mode && r.id == (wire.Digest{}) {`,

		Package: "./internal/net/service/aggregator", Test: "TestModeIsAgreedTo",
	},
	{
		Row: "secret sums 12", Bug: "it is decided anew whose sum is opened",
		File: "internal/net/service/aggregator/store/secret.go",
		Old:  ` AND round = ? AND held IS NULL`,
		New:  ` AND round = ?`,

		Package: "./internal/net/service/aggregator/store", Test: "TestSecretIsDecidedOnce",
	},
	{
		Row: "secret sums 13", Bug: "an aggregator in mode aggregate takes numbers",
		File: "internal/net/service/aggregator/upload.go",
		Old:  `		if rep.Ask != 0 || len(rep.Words) > 0 {`,
		New:  `		if rep.Ask != 0 {`,

		Package: "./internal/net/service/aggregator", Test: "TestNumbersAreNotTaken",
	},
	{
		Row: "secret sums 14", Bug: "another helper answers in one's place",
		File: "internal/net/service/identity/tls.go",
		Old:  `	return i.client(func(who Caller) bool { return who == server }, server.String())`,
		New:  `	return i.client(func(who Caller) bool { return who.Role == server.Role }, server.String())`,

		Package: "./internal/net/service/helper", Test: "TestAnotherHelperAnswers",
	},
	{
		Row: "unreadable 1", Bug: "an unreadable public label stops training where it is protected",
		File: "internal/table/read/coding/coder.go",
		Old:  "	fallback := l.Default\n",
		New:  "	fallback := l.Default\n	if l.Role == schema.Public {\n		fallback = -1\n	}\n",

		Package: "./internal/check/testkit/learntest", Test: "TestNonInterferenceWithUnreadableCells",
	},
	{
		Row: "unreadable 2", Bug: "plans take a schema that leaves a protected cell without a code",
		File: "internal/table/schema/defaults.go",
		Old:  `Kind == Number && c.Default == nil {`,
		New:  `Kind == Number && c.Default == nil && c.Role == Private {`,

		Package: "./internal/check/testkit/learntest", Test: "TestPlansAskForDefaults",
	},
	{
		Row: "unreadable 3", Bug: "a learner that protects whole rows asks for its label's default only",
		File: "internal/learn/erm/params.go",
		Old:  `learn.CheckDefaults("erm", s, dp.WholeRow, p.NotPrivate)`,
		New:  `learn.CheckDefaults("erm", s, dp.LabelOnly, p.NotPrivate)`,

		Package: "./internal/check/testkit/learntest", Test: "TestPlansAskForDefaults",
	},
	{
		Row: "unreadable 4", Bug: "an owner takes a task by which its record may be unreadable",
		File: "internal/net/federated/wire/task.go",
		Old:  `	case t.Schema.CheckDefaults("task", dp.WholeRow) != nil:`,
		New:  `	case t.Schema.CheckDefaults("task", dp.PrivateFeatures) != nil:`,

		Package: "./internal/net/federated/wire", Test: "TestTaskRefuses",
	},
	{
		Row: "unreadable 5", Bug: "a schema's fault repeats a key, which may be a cell",
		File: "internal/table/schema/reader.go",
		Old:  `"must be one of those known here", "another",`,
		New:  `"must be one of those known here", strconv.Quote(p.key),`,

		Package: "./internal/table/schema", Test: "FuzzTablesAreNotQuoted",
	},
	{
		Row: "library 1", Bug: "an account of the caller's own is never charged",
		File:    "discreet.go",
		Old:     `func (f AccountFunc) payFor(t *train.Training) { t.Account = callerAccount{f} }`,
		New:     `func (f AccountFunc) payFor(t *train.Training) { t.Account = learn.Uncounted{} }`,
		Package: "./internal/check/librarytest", Test: "TestCallersAccountIsChargedOnce",
	},
	{
		Row: "library 2", Bug: "a job's model leaves before the ledger has its bytes",
		File:    "internal/train/run.go",
		Old:     `	return m, j.Explain(Keep(ctx, j, m, to))`,
		New:     `	return m, nil`,
		Package: "./internal/check/librarytest", Test: "TestJobsAreDrawnOnce",
	},
	{
		Row: "library 3", Bug: "the schema's limit is not looked at",
		File:    "internal/train/run.go",
		Old:     `t.excess != "" && !t.Exceed`,
		New:     `t.excess != "" && false`,
		Package: "./internal/check/librarytest", Test: "TestLimitsOfTheSchema",
	},
	{
		Row: "library 4", Bug: "a table in memory repeats the cell that it cannot read",
		File:    "internal/table/read/dataset/build.go",
		Old:     `			return fault(c.Name, c.Want)`,
		New:     `			return fault(c.Name, c.Want+fmt.Sprint(", not ", row[i]))`,
		Package: "./internal/check/librarytest", Test: "TestRowsInMemoryRefused",
	},
	{
		Row: "persons 1", Bug: "every row of a person weighs one row",
		File:    "internal/table/engine/persons.go",
		Old:     `	if rows <= most {`,
		New:     `	if rows <= most || rows > 0 {`,
		Package: "./internal/table/engine/memory", Test: "TestPersonWeightsHoldAndReachTheirBound",
	},
	{
		Row: "persons 2", Bug: "weights are those of rows that a filter has left out",
		File:    "internal/table/engine/memory/persons.go",
		Old:     `	p.PersonCounts, _ = m.t.CountPersons()`,
		New:     "	p.PersonCounts, _ = m.t.CountPersons()\n	for i := range p.PersonCounts {\n		p.PersonCounts[i]++\n	}",
		Package: "./internal/table/engine/memory", Test: "TestWeightsAreThoseOfTheRowsThatAreLeft",
	},
	{
		Row: "persons 4", Bug: "the order of rows decides which row of a person stays",
		File:    "internal/table/engine/memory/draw.go",
		Old:     `	return d.Lot > other.Lot || d.Lot == other.Lot && d.Row > other.Row`,
		New:     `	return d.Row > other.Row`,
		Package: "./internal/table/engine/memory", Test: "TestWhoIsDrawnDoesNotDependOnOrder",
	},
	{
		Row: "persons 5", Bug: "a learner that knows no persons counts their rows",
		File:    "internal/table/engine/memory/persons.go",
		Old:     `	case m.weights == nil && m.persons != nil:`,
		New:     `	case false:`,
		Package: "./internal/table/engine/memory", Test: "TestNobodyCountsRowsOfPersons",
	},
	{
		Row: "persons 8", Bug: "a person's rows weigh 1 each again in a view of one class",
		File:    "internal/table/engine/memory/against.go",
		Old:     "	view := *m\n",
		New:     "	view := *m\n	view.weights = nil\n",
		Package: "./internal/table/engine/memory", Test: "TestViewsKeepWhatPersonsAllow",
	},
	{
		Row: "persons 9", Bug: "an audit moves one row of a person",
		File:    "lab/internal/attack/worlds.go",
		Old:     "		for _, other := range w.others[i] {\n			w.copyProtected",
		New:     "		for _, other := range w.others[i][:0] {\n			w.copyProtected",
		Package: "./lab/internal/attack", Test: "TestWorldsMoveWholePersons",
	},
	{
		Row: "persons 11", Bug: "a row weighs what the rows of its block alone allow",
		File: "internal/table/engine/blocks/store.go",
		Old:  `		tab := memory.NewWeighed(rows, st.weights)`,
		New: "		counts, _ := rows.CountPersons()\n" +
			"		tab := memory.NewWeighed(rows, memory.PersonCounts(counts).Weights(2))",
		Package: "./internal/table/engine/blocks", Test: "TestPersonsInBlocksAreThoseOfMemory",
	},
	{
		Row: "persons 12", Bug: "each block numbers its persons by itself",
		File:    "internal/table/read/dataset/blocks.go",
		Old:     `		r.persons.ids.renumber(part.persons.ids, t.Persons)`,
		New:     `		_ = t.Persons`,
		Package: "./internal/table/read/dataset", Test: "TestBlocksKnowPersons",
	},
	{
		Row: "persons 13", Bug: "in a cluster a row weighs what the rows of its block alone allow",
		File:    "internal/spark/shuffle.go",
		Old:     `			binary.LittleEndian.PutUint32(reply, uint32(total))`,
		New:     `			copy(reply[:4], lists[recordBytes*order[i].at+16:])`,
		Package: "./internal/spark", Test: "TestShuffledPersonsAreThoseOfMemory",
	},
	{
		Row: "persons 14", Bug: "in a cluster everybody is counted in each block",
		File:    "internal/spark/shuffle.go",
		Old:     `			if i == from {`,
		New:     `			if i >= from {`,
		Package: "./internal/spark", Test: "TestShuffledPersonsAreThoseOfMemory",
	},
	{
		Row: "persons 15", Bug: "in a cluster twice as many rows of a person are drawn as count",
		File:    "internal/spark/shuffle.go",
		Old:     `	d := memory.NewDrawing(v.Most, v.Fill)`,
		New:     `	d := memory.NewDrawing(2*v.Most, v.Fill)`,
		Package: "./internal/spark", Test: "TestShuffledPersonsAreThoseOfMemory",
	},
	{
		Row: "persons 16", Bug: "in a cluster rows are asked before it is settled what they count for",
		File: "internal/spark/spark.go",
		Old: `	if sn.persons != nil {
		return nil, fmt`,
		New: `	if false {
		return nil, fmt`,
		Package: "./internal/spark", Test: "TestPersonsInAClusterAreThoseOfMemory",
	},
}
