// SPDX-License-Identifier: Apache-2.0

package mutants

// leaned are bugs in the lines that proofs lean on, named by page and tag, where no other
// row has one.
var leaned = []mutant{
	{
		Row: "tag mech 1.1", Bug: "rounding is left out of Laplace noise",
		File: "internal/privacy/mech/laplace.go",
		Old:  `gridFor(eps, l1, uint64(length))}, nil // 1.1`,
		New:  `gridFor(eps, l1, 0)}, nil`,

		Package: "./internal/privacy/mech", Test: "TestRoundingIsPaidFor",
	},
	{
		Row: "tag mech 2.1", Bug: "rounding is left out of a selection",
		File: "internal/privacy/mech/select.go",
		Old:  `gridFor(eps, spread, 2)}, nil // 2.1`,
		New:  `gridFor(eps, spread, 0)}, nil`,

		Package: "./internal/privacy/mech", Test: "TestRoundingIsPaidFor",
	},
	{
		Row: "tag mech 4.1", Bug: "gamma noise rounds its scale down",
		File: "internal/privacy/mech/gamma.go",
		Old:  `scale := l2 / loss * (1 + 0x1p-40) // 4.1`,
		New:  `scale := l2 / loss * (1 - 0x1p-20)`,

		Package: "./internal/privacy/mech", Test: "TestBlocksScaleAndWidth",
	},
	{
		Row: "tag mech 5.1", Bug: "the Jacobian's part of ε is spent twice",
		File: "internal/privacy/mech/gamma.go",
		Old:  `left := eps.Float() - jacobian // 5.1`,
		New:  `left := eps.Float() - jacobian/2`,

		Package: "./internal/privacy/mech", Test: "TestObjectiveBlocksLeaveTheJacobianItsShare",
	},
	{
		Row: "tag mech 6.1", Bug: "a remainder covers one radius, not two",
		File: "internal/privacy/mech/gamma.go",
		Old:  `eps.Float(), 2*radius, length, releaseBits) // 6.1`,
		New:  `eps.Float(), radius, length, releaseBits)`,

		Package: "./internal/privacy/mech", Test: "TestRemainderCoversTwiceTheRadius",
	},
	{
		Row: "tag secsum 3.2", Bug: "one half of a share of noise is the other",
		File: "internal/privacy/mech/addend.go",
		Old: `	down := drawPolya(src, drawGeometric(src, scale), 1, parts)
	return int64(up) - int64(down) // 3.2`,
		New: `	return int64(up)`,

		Package: "./internal/privacy/mech", Test: "TestSharesOfNoiseAddUp",
	},
	{
		Row: "tag secsum 3.3", Bug: "rounding is left out of a short addend",
		File: "internal/privacy/response/addend.go",
		Old:  `*(1+0x1p-40))) + uint64(dim)`,
		New:  `*(1+0x1p-40)))`,

		Package: "./internal/privacy/response", Test: "TestShortAddendsKeepEpsilon",
	},
	{
		Row: "tag ledger 1.4", Bug: "a job that has begun is refunded",
		File: "internal/ledger/recover.go",
		Old: `name, request, Reserved, func(now past) Entry {
		return Entry{Kind: Refunded`,
		New: `name, request, Began, func(now past) Entry {
		return Entry{Kind: Refunded`,

		Package: "./internal/ledger", Test: "TestEveryOrderOfSteps",
	},
	{
		Row: "tag labeldp 1.4", Bug: "what is made of the statistic reads labels",
		File: "internal/learn/labeldp/fit.go",
		Old: `	half := halfCounts(g)
	weigh :=`,
		New: `	half := halfCounts(g)
	for i, c := range g.Counts[0] {
		half[i] += float64(c) / 1e6
	}
	weigh :=`,

		Package: "./internal/learn/labeldp", Test: "TestReplayNonInterference",
	},
	{
		Row: "tag labeldp 1.5", Bug: "Gaussian noise for twice the ρ that is afforded",
		File: "internal/learn/labeldp/params.go",
		Old:  `	pl.bill = bill(rho)`,
		New:  `	pl.bill = bill(2 * rho)`,

		Package: "./internal/learn/labeldp", Test: "TestConformance",
	},
	{
		Row: "tag labeldp 2.2", Bug: "the fits of the statistic read the labels of the groups",
		File: "internal/learn/labeldp/levels.go",
		Old:  `	for f, mean := range pl.meanRow(g, halfCounts(g), float64(n)) {`,
		New: `	for f, mean := range pl.meanRow(g, halfCounts(g), float64(n)) {
		mean += float64(g.Counts[0][0]) / 1e6`,

		Package: "./internal/learn/labeldp", Test: "TestReplayNonInterferenceOfLevels",
	},
	{
		Row: "tag pate 1.5", Bug: "both releases have the whole of ε",
		File: "lab/internal/learn/pate/params.go",
		Old:  `	pl.worth.eps = pl.Epsilon - pl.votes.eps`,
		New:  `	pl.worth.eps = pl.Epsilon`,

		Package: "./lab/internal/learn/pate", Test: "TestConformance",
	},
	{
		Row: "tag pate 1.2", Bug: "a row's part moves the votes by one",
		File: "lab/internal/learn/pate/fit.go",
		Old:  `votesMove = 2`,
		New:  `votesMove = 1`,

		Package: "./lab/internal/learn/pate", Test: "TestCoefficientsEqualTheNaiveTwin",
	},
	{
		Row: "tag pate 1.3", Bug: "the first vote leaves as it is",
		File: "lab/internal/learn/pate/fit.go",
		Old: `	if err != nil || pl.NotPrivate {
		return out, err
	}
	variance`,
		New: `	out[0] = values[0].Float()
	if err != nil || pl.NotPrivate {
		return out, err
	}
	variance`,

		Package: "./lab/internal/learn/pate", Test: "TestReplayNonInterference",
	},
	{
		Row: "tag tune 1.7", Bug: "another number of runs than the law draws",
		File: "internal/tune/stopping.go",
		Old:  `		if l.keepRunning(src, runs) { // 1.7`,
		New:  `		if l.keepRunning(src, runs) || runs > 4 {`,

		Package: "./internal/tune", Test: "TestDrawHasTheLaw",
	},
	{
		Row: "tag tune 1.4", Bug: "the candidate with the fewest mistakes is chosen",
		File: "internal/tune/fit.go",
		Old:  `	return at, models[at], nil`,
		New: `	for i := range scores {
		if scores[i].Num > scores[at].Num {
			at = i
		}
	}
	return at, models[at], nil`,

		Package: "./internal/tune", Test: "TestReplayNonInterference",
	},
	{
		Row: "tag erm 1.2", Bug: "the slope at the minimum is bounded by one turn too many of half the ridge",
		File: "internal/guard/perturbed/units.go",
		Old:  `slope = 1 / (1 + math.Exp(-u.norm*slope*u.norm/u.reg))`,
		New:  `slope = 1 / (1 + math.Exp(-u.norm*slope*u.norm/u.reg/2))`,

		Package: "./internal/guard/perturbed", Test: "TestSlopeIsABound",
	},
	{
		Row: "tag erm 2.5", Bug: "the grid of the linear term counts for half",
		File: "internal/guard/perturbed/units.go",
		Old:  `return step * math.Sqrt(float64(u.dim)) / (2 * u.n)`,
		New:  `return step * math.Sqrt(float64(u.dim)) / (4 * u.n)`,

		Package: "./internal/guard/perturbed", Test: "TestRemainderCoversTheGridOfTheTerm",
	},
	{
		Row: "tag erm 2.3", Bug: "a solver is content with a gradient ten times as long",
		File: "internal/guard/perturbed/solve.go",
		Old:  `if best.GradNorm <= target { // 2.3: the certificate`,
		New:  `if best.GradNorm <= 10*target {`,

		Package: "./internal/guard/perturbed", Test: "TestNoAnswerWithoutCertificate",
	},
	{
		Row: "tag multiparty 3.2", Bug: "the mean of coefficients moves by half of what one party can do",
		File: "internal/net/federated/multiparty/combine.go",
		Old:  `l2 := 2 * pl.Bound / float64(pl.Parties)`,
		New:  `l2 := pl.Bound / float64(pl.Parties)`,

		Package: "./internal/net/federated/multiparty", Test: "TestAverage",
	},
	{
		Row: "tag multiparty 2.3", Bug: "coefficients leave with noise for one row less of reach",
		File: "internal/net/federated/multiparty/combine.go",
		Old:  `pl.noiseFor(pl.outputSensitivity(newTransform(Ball, g, p.rows)), len(w))`,
		New:  `pl.noiseFor(pl.outputSensitivity(newTransform(Ball, g, p.rows))/2, len(w))`,

		Package: "./internal/net/federated/multiparty", Test: "TestAudit",
	},
	{
		Row: "tag multiparty 5.1", Bug: "an addend is sized for half the distance of two hand-ins",
		File: "internal/net/federated/multiparty/secret.go",
		Old:  `l2 := pl.largestChange()*s.t.reach*(1+0x1p-40) + 2`,
		New:  `l2 := pl.largestChange()/2*s.t.reach*(1+0x1p-40) + 2`,

		Package: "./internal/net/federated/multiparty", Test: "TestSecretVectorsAreShort",
	},
	{
		Row: "tag multiparty 5.2", Bug: "a party adds the votes of the constant, not its distance from it",
		File: "internal/net/federated/multiparty/secret.go",
		Old:  `at[i] = stat[i] - s.middle[i]`,
		New:  `at[i] = stat[i]`,

		Package: "./internal/net/federated/multiparty", Test: "TestSecretSum",
	},
	{
		Row: "tag multiparty 5.3", Bug: "a secret sum states a price without its cut",
		File: "internal/net/federated/multiparty/secret.go",
		Old:  `dp.Price{Epsilon: s.pl.Epsilon, Delta: 1}`,
		New:  `dp.Price{Epsilon: s.pl.Epsilon}`,

		Package: "./internal/net/federated/multiparty", Test: "TestSecretVectorsAreShort",
	},
	{
		Row: "tag multiparty 1.1", Bug: "one party moves the statistic by half",
		File: "internal/net/federated/multiparty/statistic.go",
		Old:  `l2 := pl.perVote() * pl.largestChange() * t.reach`,
		New:  `l2 := pl.perVote() * pl.largestChange() / 2 * t.reach`,

		Package: "./internal/net/federated/multiparty", Test: "TestAudit",
	},
	{
		Row: "tag multiparty 1.5", Bug: "the statistic leaves with noise for another length",
		File: "internal/net/federated/multiparty/statistic.go",
		Old:  `p.pl.noiseFor(p.pl.sensitivity(t), len(values))`,
		New:  `p.pl.noiseFor(p.pl.sensitivity(t)/2, len(values))`,

		Package: "./internal/net/federated/multiparty", Test: "TestAudit",
	},
	{
		Row: "tag multiparty 3.1", Bug: "coefficients are clipped to twice the bound",
		File: "internal/net/federated/multiparty/tally.go",
		Old:  `clipLength(coef, t.pl.Bound)`,
		New:  `clipLength(coef, 2*t.pl.Bound)`,

		Package: "./internal/net/federated/multiparty", Test: "TestAverage",
	},
	{
		Row: "tag localboost 1.1", Bug: "the cap on weights is not held",
		File: "internal/net/federated/wire/task.go",
		Old:  `return math.Min(t.WeightCap, math.Exp(log)) // 1.1`,
		New:  `return math.Exp(log)`,

		Package: "./internal/net/federated/wire", Test: "TestWeightBound",
	},
	{
		Row: "tag localboost 1.2", Bug: "an owner's place does not depend on the task",
		File: "internal/net/federated/wire/place.go",
		Old:  `append(append(append(buf, salt...), p.digest[:]...), owner...)`,
		New:  `append(append(buf, salt...), owner...)`,

		Package: "./internal/net/federated/wire", Test: "TestPlaces",
	},
	{
		Row: "tag localboost 2.4", Bug: "an owner reports about a row of another person",
		File: "internal/net/federated/answer/owners.go",
		Old:  `	if o.rows != nil {`,
		New:  `	if len(o.rows) == o.recs.tab.Rows {`,

		Package: "./internal/net/federated/answer", Test: "TestPersonsAreOwners",
	},
	{
		Row: "tag multiparty 6.1", Bug: "a model that protects rows votes for persons",
		File: "internal/net/service/ballot/voter.go",
		Old:  `	case !p.ProtectsPersons():`,
		New:  `	case p.Unit == "":`,

		Package: "./internal/net/service/ballot", Test: "TestPriceOfPersons",
	},
	{
		Row: "tag multiparty 6.2", Bug: "a second model costs persons nothing",
		File: "internal/net/service/party/record.go",
		Old:  `		if p.Epsilon > r.lifetime-spent {`,
		New:  `		if p.Epsilon > r.lifetime {`,

		Package: "./internal/net/service/party", Test: "TestPersonsPayForModels",
	},
	{
		Row: "tag people 1.4", Bug: "the free classifier sees private columns' errors",
		File: "lab/internal/learn/people/fit.go",
		Old:  `add(k, voteOf(publicError(patterns, k)))`,
		New:  `add(k, voteOf(publicError(patterns, 0)))`,

		Package: "./lab/internal/learn/people", Test: "TestVotesEqualTheNaiveTwin",
	},
	{
		Row: "tag local 6.1", Bug: "a lie may be the truth",
		File: "internal/privacy/mech/grr.go",
		Old:  `	if other >= cell {`,
		New:  `	if other > cell {`,

		Package: "./internal/privacy/mech", Test: "TestCellSamplers",
	},
	{
		Row: "tag local 4.2", Bug: "a report's noise is of half the scale",
		File: "internal/privacy/mech/noisy.go",
		Old:  `noise := shortLaplace(src, l.Scale) // 4.2`,
		New:  `noise := shortLaplace(src, max(1, l.Scale/2))`,

		Package: "./internal/privacy/mech", Test: "TestNoisySampler",
	},
	{
		Row: "tag local 3.3", Bug: "Duchi's mean is off",
		File: "internal/privacy/response/duchi.go",
		Old:  `Binomial(int64(l.dim-1), int64(l.dim/2))`,
		New:  `Binomial(int64(l.dim), int64(l.dim/2))`,

		Package: "./internal/privacy/response", Test: "TestDuchiLaw",
	},
	{
		Row: "tag local 1.3", Bug: "a report's step is that of the window's width",
		File: "internal/privacy/response/line.go",
		Old:  `return nearestRatio(bigOf(l.Total()), l.meanGain())`,
		New:  `return nearestRatio(bigOf(l.Total()+l.Inner), l.meanGain())`,

		Package: "./internal/privacy/response", Test: "TestLineLaw",
	},
	{
		Row: "tag local 5.1", Bug: "OUE lies for twice ε",
		File: "internal/privacy/response/oue.go",
		Old:  `return OUE{eps, cells, lieCoin(eps)}, nil // 5.1`,
		New:  `return OUE{eps, cells, lieCoin(2 * eps)}, nil`,

		Package: "./internal/privacy/response", Test: "TestOddsAreTheLargestThatKeepEpsilon",
	},
	{
		Row: "tag accounting 1.1", Bug: "a grid's points are taken as exact",
		File: "internal/privacy/accounting/grid.go",
		Old:  `make([]float64, high-low+1), 8 * unit * reach} // 1.1`,
		New:  `make([]float64, high-low+1), 0 * reach}`,

		Package: "./internal/privacy/accounting", Test: "TestSlackCoversTheGrid",
	},
	{
		Row: "tag accounting 3.1", Bug: "fine grids are taken for continuous laws",
		File: "internal/privacy/accounting/gaussian.go",
		Old:  `const gridSlack = 0x1p-46 // 3.1`,
		New:  `const gridSlack = 0x1p-66`,

		Package: "./internal/privacy/accounting", Test: "TestSlackCoversFineGrids",
	},
	{
		Row: "tag accounting 4.3", Bug: "transforms are taken as exact",
		File: "internal/privacy/accounting/tilt.go",
		Old:  `t.err = (inputs*math.Exp(growth) + slope*norm + 1e-290) / (1 - slope) * 1.01`,
		New:  `t.err = (inputs*math.Exp(growth) + slope*norm + 1e-290) * 1e-9`,

		Package: "./internal/privacy/accounting", Test: "TestErrorCoversTheTransforms",
	},
	{
		Row: "tag accounting 4.1", Bug: "sums of losses are taken as exact",
		File: "internal/privacy/accounting/compose.go",
		Old:  `out.slack += 8 * unit * float64(len(sides)) * (rounding + float64(out.last)*h) // 4.1`,
		New:  `_ = rounding`,

		Package: "./internal/privacy/accounting", Test: "TestSlackCoversTheSum",
	},
	{
		Row: "tag brc 1.9b", Bug: "the classes' share leaves with half of its noise",
		File: "internal/guard/mistakes/rows.go",
		Old:  `roundUp(1/float64(r.sealed().n))`,
		New:  `roundUp(0.5/float64(r.sealed().n))`,

		Package: "./internal/learn/brc", Test: "TestReplayNonInterference",
	},
	{
		Row: "tag brc 1.4", Bug: "the largest reachable weight is forgotten",
		File: "internal/guard/mistakes/weights.go",
		Old:  `r.lo, r.hi = min(r.lo, w), max(r.hi, w)`,
		New:  `r.lo, r.hi = min(r.lo, w), max(r.hi, r.clip.one)`,

		Package: "./internal/guard/mistakes", Test: "TestDeclaredSensitivityIsHeldAndReached",
	},
	{
		Row: "tag pate 1.4", Bug: "the student groups rows by private columns, too",
		File: "lab/internal/learn/pate/student.go",
		Old:  `groups, err := tab.Groups(ctx, pl.public.Columns)`,
		New:  `groups, err := tab.Groups(ctx, pl.joint.Columns)`,

		Package: "./lab/internal/noninterference", Test: "TestEveryModeOnPairs",
	},
	{
		Row: "tag pate 1.6", Bug: "a table of one class fails after the charge",
		File: "lab/internal/learn/pate/fit.go",
		Old: `	if pl.Form == Printed {
		m, err := pl.fitPrinted`,
		New: `	if n := groups.Counts[pl.s.Label.Positive]; len(n) > 0 && slices.Max(n) == 0 {
		return nil, fmt.Errorf("pate: one class")
	}
	if pl.Form == Printed {
		m, err := pl.fitPrinted`,

		Package: "./lab/internal/learn/pate", Test: "TestConformance",
	},
	{
		Row: "tag people 1.4 groups", Bug: "the public classifier groups rows by private columns, too",
		File: "lab/internal/learn/people/fit.go",
		Old:  `groups, err := tab.Groups(ctx, pl.public)`,
		New:  `groups, err := tab.Groups(ctx, pl.space.Columns)`,

		Package: "./lab/internal/noninterference", Test: "TestEveryModeOnPairs",
	},
	{
		Row: "tag ledger 2.2", Bug: "other bytes than the committed ones are published",
		File: "internal/ledger/job.go",
		Old:  `j.l.replaceFile(path, j.stored); err != nil { // 2.2`,
		New:  `j.l.replaceFile(path, slices.Concat(j.stored, []byte("\n"))); err != nil {`,

		Package: "./internal/ledger", Test: "TestJobGoesItsWay",
	},
	{
		Row: "tag ledger 3.1", Bug: "what is summed is not what is hashed",
		File: "internal/ledger/books.go",
		Old:  `case e.hashEntry() != e.Hash: // 3.1`,
		New:  `case false:`,

		Package: "./internal/ledger", Test: "TestDamagedLedgersGrantNothing",
	},
	{
		Row: "ledger index", Bug: "a ledger's rows are read from an index",
		File: "internal/ground/sqldb/tx.go",
		Old:  `return " NOT INDEXED"`,
		New:  `return ""`,

		Package: "./internal/ledger", Test: "TestNoIndexIsRead",
	},
	{
		Row: "store index", Bug: "a store whose indexes differ from its tables is used",
		File: "internal/ground/sqldb/sqlite.go",
		Old:  `return compareIndexes(ctx, db)`,
		New:  `return nil`,

		Package: "./internal/net/service/party", Test: "TestNoBitPaysTwice",
	},
	{
		Row: "tag ledger 5.1", Bug: "two trainings read cohorts in different ways",
		File: "internal/ledger/cohorts.go",
		Old:  `definition != "" && definition != req.Definition: // 5.1`,
		New:  `definition != "" && false:`,

		Package: "./internal/ledger", Test: "TestCohortsAreRefusedWhereTheyAreNotProven",
	},
	{
		Row: "tag ledger 5.3", Bug: "a training on cohorts is charged to the first of them alone",
		File: "internal/ledger/parts.go",
		Old:  `range names { // 5.3`,
		New:  `range names[:min(1, len(names))] {`,

		Package: "./internal/ledger", Test: "TestCohortsAreChargedApart",
	},
	{
		Row: "tag ledger 6.1", Bug: "whoever has a key appoints and allots",
		File: "internal/ledger/roster.go",
		Old:  `case a.key != r.owner:`,
		New:  `case false:`,

		Package: "./internal/ledger", Test: "TestOnlyTheirKeysDoIt",
	},
	{
		Row: "tag ledger 6.2", Bug: "an allotment that has expired is charged",
		File: "internal/ledger/roster.go",
		Old: `	case expired(m.until, a.at):
		return nil,`,
		New: `	case false:
		return nil,`,

		Package: "./internal/ledger", Test: "TestExpiryStaysPassed",
	},
	{
		Row: "tag ledger 6.3", Bug: "an approver approves what it asked for itself",
		File: "internal/ledger/roster.go",
		Old:  `case j.by == a.key:`,
		New:  `case false:`,

		Package: "./internal/ledger", Test: "TestOnlyTheirKeysDoIt",
	},
	{
		Row: "tag ledger 6.4", Bug: "an allotment is charged beyond its end",
		File: "internal/ledger/roster.go",
		Old:  `	if !fits {`,
		New:  `	if false && !fits {`,

		Package: "./internal/ledger", Test: "TestAllotmentsAreWithinTheTotal",
	},
	{
		Row: "tag ledger 6.5", Bug: "a training is charged at another price than the approved one",
		File: "internal/ledger/roster.go",
		Old:  ` || j.price != a.price:`,
		New:  `:`,

		Package: "./internal/ledger", Test: "TestRequestGoesItsWay",
	},
	{
		Row: "tag party 1.7", Bug: "votes under another name are taken",
		File: "internal/net/service/party/ask.go",
		Old:  `if err := a.checkHeader(&r.Header); err != nil { // 1.7`,
		New:  `if err := a.Fits(&r.Header); err != nil {`,

		Package: "./internal/net/service/party", Test: "TestLiarsAreAbsent",
	},
	{
		Row: "tag tune 1.2", Bug: "the training table holds numbers of judging rows",
		File: "internal/tune/parts.go",
		Old: `	train.Forget()
`,
		New: ``,

		Package: "./internal/tune", Test: "TestTrainingForgetsWhatOthersHold",
	},
	{
		Row: "tag multiparty 1.6", Bug: "the minimum is that of the exact statistic",
		File: "internal/net/federated/multiparty/combine.go",
		Old: `	o.setStatistic(p.release(tr, s, exit))
	w, _, err := o.findMinimum(ctx, searchTarget, searchSteps) // 1.6`,
		New: `	p.release(tr, s, exit)
	o.setStatistic(s)
	w, _, err := o.findMinimum(ctx, searchTarget, searchSteps) // 1.6`,

		Package: "./internal/net/federated/multiparty", Test: "TestReplayNonInterference",
	},
	{
		Row: "tag wire 1.2", Bug: "a ticket's lower half decides nothing",
		File: "internal/net/federated/wire/round.go",
		Old:  `return int(ticket % uint64(len(r.Asks)))`,
		New:  `return int((ticket | 1) % uint64(len(r.Asks)))`,

		Package: "./internal/net/federated/wire", Test: "TestTicketsPickAsksEvenly",
	},
	{
		Row: "tag multiparty 1.2", Bug: "the reach of one party's statistic is an eighth too short",
		File: "internal/net/federated/multiparty/shape.go",
		Old:  `t.reach = math.Sqrt(boundEigenvalue(b)+hidden) * (1 + 0x1p-30)`,
		New:  `t.reach = math.Sqrt(boundEigenvalue(b)+hidden) * (1 - 0x1p-3)`,

		Package: "./internal/net/federated/multiparty", Test: "TestOnePartyMovesNothingFurther",
	},
	{
		Row: "tag brc 1.1 list", Bug: "more stumps are listed than the plan says",
		File: "internal/learn/brc/subroutine.go",
		Old:  `allStumps(pl.private, pl.s, pl.Candidates)`,
		New:  `allStumps(pl.private, pl.s, pl.Candidates+1)`,

		Package: "./internal/learn/brc", Test: "TestVotesEqualTheNaiveTwin",
	},
	{
		Row: "tag people 1.1", Bug: "candidates ask beyond the bounds of the schema",
		File: "lab/internal/learn/people/candidates.go",
		Old:  `Bias: -cut}`,
		New:  `Bias: -2 * cut}`,

		Package: "./lab/internal/learn/people", Test: "TestCandidatesAreTheSchemas",
	},
	{
		Row: "tag additive 1.1", Bug: "all columns are cut as the first",
		File: "internal/learn/additive/bins.go",
		Old:  `bins := pl.cutColumn(j, pl.rules.bins) // 1.1`,
		New:  `bins := pl.cutColumn(columns[0], pl.rules.bins)`,

		Package: "./internal/learn/additive", Test: "TestEachColumnIsCutOnce",
	},
	{
		Row: "tag additive 1.1 pairs", Bug: "edges that one training paid for are left in the schema for the next",
		File: "internal/learn/additive/bins.go",
		Old: `			c := pl.schema.Columns[j]
			c.Edges = edges
			return feature.NewBins(pl.schema, j, feature.Cuts(&c, minBins))`,
		New: `			c := &pl.schema.Columns[j]
			c.Edges = edges
			return feature.NewBins(pl.schema, j, feature.Cuts(c, minBins))`,

		Package: "./internal/learn/additive", Test: "TestPairsAreCutWhereCountsSay",
	},
}
