// SPDX-License-Identifier: Apache-2.0

package mutants

// unlisted are bugs that a reviewer planted, none of them of the list that the table
// began with, and their kin. Each is met by a test of its class.
var unlisted = []mutant{
	{
		Row: "unlisted 1", Bug: "numbers are cut into bins by the range that occurs",
		File: "internal/table/engine/statistic/cells.go",
		Old:  `a.places = append(a.places, placeOf(&c.Bins[k], run.Cols))`,
		New: `b := c.Bins[k]
		if v := run.Cols[b.Column].Values; b.Second == nil && len(v) > 0 && len(b.Edges) > 1 {
			lo, hi := v[0], v[0]
			for _, x := range v {
				lo, hi = min(lo, x), max(hi, x)
			}
			edges := make([]float64, len(b.Edges))
			for i := range edges {
				edges[i] = lo + (hi-lo+1e-9)*float64(i+1)/float64(len(edges)+1)
			}
			b.Edges = edges
		}
		a.places = append(a.places, placeOf(&b, run.Cols))`,
		Package: "./internal/check/noninterference", Test: "TestEveryModeOnPairs",
	},
	{
		Row: "unlisted 3", Bug: "random stopping of tune ends at a candidate without a mistake",
		File: "internal/tune/fit.go",
		Old:  `at, m, least = i, candidate, noisy`,
		New: `at, m, least = i, candidate, noisy
			if loss.Num == 0 {
				break
			}`,
		Package: "./internal/check/noninterference", Test: "TestTuneGoesOnWithoutMistakes",
	},
	{
		Row: "unlisted 4", Bug: "small cells are emptied before noise",
		File: "internal/table/engine/statistic/cells.go",
		Old: `		for at := range p.places {
`,
		New: `		for at := range p.places {
			for side := range 2 {
				if a.sums[k][2*at+side] < 3*engine.WeightOne {
					a.sums[k][2*at+side] = 0
				}
			}
`,
		Package: "./internal/check/noninterference", Test: "TestEveryModeOnPairs",
	},
	{
		Row: "unlisted 7", Bug: "dictionaries of other parts are left in the table of one part",
		File: "internal/table/read/dataset/selection.go",
		Old: `	out.Forget()
`,
		New:     ``,
		Package: "./internal/check/noninterference", Test: "TestPartsAreAlone",
	},
	{
		Row: "unlisted 8", Bug: "training prints how many private cells were repaired",
		File: "internal/train/run.go",
		Old: `	rows, err := memory.New(tab)
`,
		New: `	repaired := 0
	for j, c := range t.Schema.Columns {
		for i := 0; c.Role == schema.Private && c.Kind == schema.Category && i < tab.Rows; i++ {
			if int(tab.Cols[j].Codes.At(i)) == c.OtherCode() {
				repaired++
			}
		}
	}
	t.sayLine("%d private cells were repaired", repaired)
	rows, err := memory.New(tab)
`,
		Package: "./internal/check/noninterference", Test: "TestTrainingSaysTheSame",
	},
	{
		Row: "unlisted 9", Bug: "half of the secure generator's buffer is empty after each filling",
		File: "internal/privacy/rng/rng.go",
		Old:  `s.tag, s.next = tag, 0`,
		New: `s.tag, s.next = tag, 0
	clear(s.buf[bufferBytes/2 : bufferBytes])`,
		Package: "./internal/privacy/rng", Test: "TestSystemIsUniform",
	},
	{
		Row: "unlisted 9b", Bug: "a generator that fails its health tests is used",
		File: "internal/privacy/rng/rng.go",
		Old:  `fault, tag := findFault(s.buf[:bufferBytes]), binary`,
		New:  `fault, tag := "", binary`,

		Package: "./internal/privacy/rng", Test: "TestHealthTests",
	},
	{
		Row: "unlisted 10", Bug: "Gaussian noise is antithetic in pairs",
		File: "internal/privacy/mech/gaussian.go",
		Old: `	for i, v := range values {
`,
		New: `	for i, v := range values {
		if i%2 == 1 {
			out[i] = v.Float() + values[i-1].Float() - out[i-1]
			continue
		}
`,
		Package: "./internal/privacy/mech", Test: "TestNoiseIsIndependent/gaussian",
	},
	{
		Row: "unlisted 11", Bug: "the coins of the first 64 cells of a report are those of all others",
		File: "internal/privacy/mech/oue.go",
		Old:  `lies := flipCoins(src, l.Lie) // 5.2`,
		New: `lies := flipCoins(src, l.Lie)
		if i > 0 {
			lies = uint64(r[0]) | uint64(r[1])<<32
		}`,
		Package: "./internal/privacy/mech", Test: "TestNoiseIsIndependent/oue",
	},
	{
		Row: "unlisted 12", Bug: "all scalars of a secret sum are shared by one polynomial",
		File: "internal/net/federated/secsum/shamir.go",
		Old: `		polynomials = append(polynomials, s.drawPolynomial(src, group.Ristretto255.NewScalar().SetBigInt(packed)))
`,
		New: `		f := s.drawPolynomial(src, group.Ristretto255.NewScalar().SetBigInt(packed))
		if len(polynomials) > 1 { // blind's is another
			f = append(f[:1], polynomials[1][1:]...)
		}
		polynomials = append(polynomials, f)
`,
		Package: "./internal/net/federated/secsum", Test: "TestPolynomialsAreIndependent",
	},
	{
		Row: "unlisted 13", Bug: "output perturbation is sized as if the optimiser found the minimum",
		File: "internal/guard/perturbed/problem.go",
		Old:  `slope, 2*u.minimumDistance(s.gradientBound()))`,
		New:  `slope, 0)`,

		Package: "./internal/guard/perturbed", Test: "TestNoiseCoversTheCertificate",
	},
	{
		Row: "unlisted 14", Bug: "an optimiser's certificate counts for one of the two neighbours",
		File: "internal/guard/perturbed/problem.go",
		Old:  `slope, 2*u.minimumDistance(s.gradientBound()))`,
		New:  `slope, u.minimumDistance(s.gradientBound()))`,

		Package: "./internal/guard/perturbed", Test: "TestNoiseCoversTheCertificate",
	},
	{
		Row: "unlisted 15", Bug: "the ledger does not look a second time whether another job has begun",
		File: "internal/ledger/job.go",
		Old: `		if err := j.checkTerms(b); err != nil { // another job may have begun first
			return err
		}
`,
		New:     ``,
		Package: "./internal/ledger", Test: "TestEveryOrderOfSteps",
	},
	{
		Row: "unlisted 16", Bug: "an owner whose record weighs nothing stays silent",
		File: "internal/net/federated/answer/owners.go",
		Old:  `func(g Given) bool { return g.Refused != nil || g.Round != round }`,
		New:  `func(g Given) bool { return g.Refused != nil || g.Round != round || p.weigh.weight(g.Owner) < 0x1p-62 }`,

		Package: "./internal/net/federated/answer", Test: "TestNobodyIsSilent",
	},
	{
		Row: "unlisted 16b", Bug: "an owner whose record weighs nothing gives no shares",
		File: "internal/net/federated/answer/owners.go",
		Old:  `func(g Given) bool { return g.Refused != nil || g.Round != round }`,
		New:  `func(g Given) bool { return g.Refused != nil || g.Round != round || p.weigh.weight(g.Owner) < 0x1p-62 }`,

		Package: "./internal/net/federated/answer", Test: "TestNobodyIsSilentInASecretSum",
	},
	{
		Row: "unlisted 17", Bug: "a helper logs the shares that it stores",
		File: "internal/net/service/helper/server.go",
		Old:  `		one, p := l.checkShare(secretsum.Share{`,
		New: `		s.Log.Debug("a share", "content", fmt.Sprintf("%x", m.GetMessage()))
		one, p := l.checkShare(secretsum.Share{`,
		Package: "./internal/net/service/helper", Test: "TestHelpersDoNotLogShares",
	},
	{
		Row: "unlisted 18", Bug: "calls that fail are logged with their messages",
		File: "internal/net/service/admission/gate.go",
		Old:  `g.Log.Error("a call failed", "call", call, "caller", who.String(), "error", err)`,
		New:  `g.Log.Error("a call failed", "call", call, "caller", who.String(), "error", err, "message", r.Any())`,

		Package: "./internal/net/service/admission", Test: "TestFailedCallsAreLoggedWithoutMessages",
	},
	{
		Row: "unlisted 18b", Bug: "calls that panic are logged with their messages",
		File: "internal/net/service/admission/gate.go",
		Old:  `g.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", x,`,
		New:  `g.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", r.Any(),`,

		Package: "./internal/net/service/admission", Test: "TestFailedCallsAreLoggedWithoutMessages",
	},
	{
		Row: "unlisted 8b", Bug: "the command prints how many private cells were repaired",
		File: "internal/train/run.go",
		Old: `	rows, err := memory.New(tab)
`,
		New: `	repaired := 0
	for j, c := range t.Schema.Columns {
		for i := 0; c.Role == schema.Private && c.Kind == schema.Category && i < tab.Rows; i++ {
			if int(tab.Cols[j].Codes.At(i)) == c.OtherCode() {
				repaired++
			}
		}
	}
	t.sayLine("%d private cells were repaired", repaired)
	rows, err := memory.New(tab)
`,
		Package: "./cmd/discreet", Test: "TestPrivateCellsDoNotShowInWords",
	},
	{
		Row: "unlisted 19", Bug: "tune deals the rows of half of the table alone",
		File: "internal/tune/parts.go",
		Old:  `rng.Shuffle(src, len(rows), func(i, j int) {`,
		New:  `rng.Shuffle(src, (len(rows)+1)/2, func(i, j int) {`,

		Package: "./internal/check/noninterference", Test: "TestTuneShowsTheSameOverAllDeals",
	},
	{
		Row: "unlisted 20", Bug: "a hundredth more than a budget is granted",
		File: "internal/ledger/job.go",
		Old:  `	if price.Epsilon > left.Epsilon || price.Delta > left.Delta { // 1.2`,
		New:  `	if price.Epsilon > left.Epsilon+dp.Nano/100 || price.Delta > left.Delta {`,

		Package: "./internal/ledger", Test: "TestSpendingIsOneByOne",
	},
	{
		Row: "unlisted 21", Bug: "Laplace noise is a hundredth too small",
		File: "internal/privacy/mech/laplace.go",
		Old:  `return Laplace{eps, l1, gridFor(eps, l1, uint64(length))}, nil // 1.1`,
		New:  `return Laplace{eps, l1, gridFor(eps, l1*0.99, uint64(length))}, nil`,

		Package: "./internal/check/noninterference", Test: "TestExactLossOfTinyFits",
	},
	{
		Row: "unlisted 22", Bug: "a selection is priced at a quarter",
		File: "internal/privacy/mech/select.go",
		Old:  `return choice{eps, spread, gridFor(eps, spread, 2)}, nil // 2.1`,
		New:  `return choice{eps, spread, gridFor(eps, spread/4, 2)}, nil`,

		Package: "./internal/privacy/mech", Test: "TestExactLossOfSelections",
	},
	{
		Row: "unlisted 23", Bug: "a generator that has failed is used again once it looks well",
		File: "internal/privacy/rng/rng.go",
		Old: `		s.fill = func([]byte) { panic("rng: the system's random generator failed a health test before") }
`,
		New:     ``,
		Package: "./internal/privacy/rng", Test: "TestHealthTests",
	},
	{
		Row: "unlisted 24", Bug: "a commitment serves for any holder",
		File: "internal/net/federated/secsum/ranges.go",
		Old: `	h.Write(binary.BigEndian.AppendUint32(nil, uint32(holder)))
	for _, b := range salted {
`,
		New: `	for _, b := range salted {
`,
		Package: "./internal/net/federated/secsum", Test: "TestCommitmentsAreOfOneHolder",
	},
	{
		Row: "unlisted 25", Bug: "laplace noise comes again beyond 64 numbers",
		File: "internal/privacy/mech/laplace.go",
		Old: `	for i, v := range values {
		k := m.grid`,
		New: `	for i, v := range values {
		if i >= 64 {
			out[i] = v.Float() + out[i-64] - values[i-64].Float()
			continue
		}
		k := m.grid`,

		Package: "./internal/privacy/mech", Test: "TestNoiseDoesNotComeAgain",
	},
	{
		Row: "unlisted 26", Bug: "Gaussian noise comes again beyond 64 numbers",
		File: "internal/privacy/mech/gaussian.go",
		Old: `	for i, v := range values {
`,
		New: `	for i, v := range values {
		if i >= 64 {
			out[i] = v.Float() + out[i-64] - values[i-64].Float()
			continue
		}
`,

		Package: "./internal/privacy/mech", Test: "TestNoiseDoesNotComeAgain",
	},
	{
		Row: "unlisted 27", Bug: "the coins of a report come again beyond 192 cells",
		File: "internal/privacy/mech/oue.go",
		Old:  `lies := flipCoins(src, l.Lie) // 5.2`,
		New: `lies := flipCoins(src, l.Lie)
		if i >= 6 {
			lies = uint64(r[0]) | uint64(r[1])<<32
		}`,

		Package: "./internal/privacy/mech", Test: "TestCoinsOfReportsDoNotComeAgain",
	},
	{
		Row: "unlisted 28", Bug: "the signs of a report come again beyond 96 numbers",
		File: "internal/privacy/mech/duchi.go",
		Old:  `			r[i] = uint32(src.Uint64()) & usedBits(l.Dim(), i)`,
		New: `			r[i] = uint32(src.Uint64()) & usedBits(l.Dim(), i)
			if i >= 3 {
				r[i] = r[i-3] & usedBits(l.Dim(), i)
			}`,

		Package: "./internal/privacy/mech", Test: "TestCoinsOfReportsDoNotComeAgain",
	},
	{
		Row: "unlisted 29", Bug: "sums of weighed rows count each row once",
		File: "internal/table/engine/memory/margins.go",
		Old:  `m.checkBinary("margins", counted)`,
		New:  `m.checkBinary("margins", weighed)`,

		Package: "./internal/table/engine/memory", Test: "TestNobodyCountsRowsOfPersons",
	},
	{
		Row: "unlisted 30", Bug: "slopes of weighed rows count each row once",
		File: "internal/table/engine/statistic/gridslopes.go",
		Old:  `case v.Weighed:`,
		New:  `case false:`,

		Package: "./internal/table/engine/memory", Test: "TestNobodyCountsRowsOfPersons",
	},
	{
		Row: "unlisted 31", Bug: "one coin decides which rows of all persons stay",
		File: "internal/table/engine/memory/draw.go",
		Old:  `		out[i] = binary.LittleEndian.Uint64(stream[8*(from%pair+i):])`,
		New:  `		out[i] = uint64(from+i) ^ binary.LittleEndian.Uint64(l[:])`,

		Package: "./internal/table/engine/memory", Test: "TestPersonsAreDrawnIndependently",
	},
	{
		Row: "unlisted 32", Bug: "somebody among many persons has two numbers",
		File: "internal/table/read/dataset/persons.go",
		Old: `	key := [16]byte(sum[:16])
`,
		New: `	key := [16]byte(sum[:16])
	if len(ids.numbers) >= 65536 {
		clear(ids.numbers)
	}
`,

		Package: "./internal/table/read/dataset", Test: "TestIdentifiersKeepTheirNumbers",
	},
	{
		Row: "unlisted 38", Bug: "training prints how many rows it has read, also where that is private",
		File: "internal/train/open.go",
		Old:  `		return t.openMemory(tab)`,
		New:  `		t.sayLine("%d rows", tab.Rows); return t.openMemory(tab)`,

		Package: "./internal/train", Test: "TestWordsDoNotTellSizes",
	},
	{
		Row: "unlisted 39", Bug: "rows of persons in blocks are asked before it is settled what they count for",
		File: "internal/table/engine/blocks/store.go",
		Old:  `	case st.unsettled:`,
		New:  `	case false:`,

		Package: "./internal/table/engine/blocks", Test: "TestPersonsInBlocksAreThoseOfMemory",
	},
	{
		Row: "unlisted 41", Bug: "noise of one schema's bounds meets cells that were held to another's",
		File: "internal/train/run.go",
		Old:  `	if err == nil && !bytes.Equal(read, planned) {`,
		New:  `	if err == nil && !bytes.Equal(read[:9], planned[:9]) {`,

		Package: "./internal/train", Test: "TestTablesOfAnotherSchemaAreRefused",
	},
	{
		Row: "unlisted 42", Bug: "a refused call of gRPC repeats what it was sent",
		File: "internal/serve/inference/grpc.go",
		Old:  `refuse("the data type of an input must be BYTES, BOOL, FP64, FP32 or an integer's")`,
		New:  `refuse("the data type of an input must be BYTES, BOOL, FP64, FP32 or an integer's, not %s", datatype)`,

		Package: "./internal/serve/inference", Test: "TestGRPCRefusalsRepeatNothing",
	},
	{
		Row: "unlisted 43", Bug: "a job that has begun and fails leaves no trace in what is spent",
		File: "internal/ledger/books.go",
		Old:  `Use{Spent: price, Reserved: back}) // 1.1`,
		New:  `Use{Reserved: back})`,

		Package: "./internal/ledger", Test: "TestDeltasAddUp",
	},
	{
		Row: "unlisted 44", Bug: "a release that is repeated is on the bill once",
		File: "internal/privacy/accounting/bill.go",
		Old:  `uses[at].Times++`,
		New:  `uses[at].Times = 1`,

		Package: "./internal/privacy/accounting", Test: "TestBill",
	},
	{
		Row: "unlisted 47", Bug: "pate's sums of products are sized for terms that have one sign",
		File: "lab/internal/learn/pate/fit.go",
		Old:  `firstMove, secondMove, slopeMove = 0.5, 0.25, 1.0`,
		New:  `firstMove, secondMove, slopeMove = 0.25, 0.25, 1.0`,

		Package: "./lab/internal/learn/pate", Test: "TestReplayNonInterference",
	},
	{
		Row: "unlisted 48", Bug: "what a row adds to a product is cut after the noise alone",
		File: "lab/internal/learn/pate/fit.go",
		Old:  `x, p := max(-1, min(1, t(int(r.rows[i].group)))), r.rows[i].p`,
		New:  `x, p := t(int(r.rows[i].group)), r.rows[i].p`,

		Package: "./lab/internal/noninterference", Test: "TestExactLossOfTinyFits/pate",
	},
	{
		Row: "unlisted 49", Bug: "a sum of nothing has no noise",
		File: "internal/privacy/mech/laplace.go",
		Old: `	for i, v := range values {
		k := m.grid`,
		New: `	for i, v := range values {
		if v.Num == 0 {
			continue
		}
		k := m.grid`,

		Package: "./internal/privacy/mech", Test: "TestNoiseDoesNotSeeValues",
	},
	{
		Row: "unlisted 50", Bug: "a lie of GRR about the last cell is never that there is none",
		File: "internal/privacy/mech/grr.go",
		Old:  `	if other >= cell {`,
		New:  `	if other >= cell && cell < l.Dim()-1 {`,

		Package: "./internal/privacy/mech", Test: "TestExactLossOfReports/grr",
	},
	{
		Row: "unlisted 51", Bug: "rounding is left out of Gaussian noise",
		File: "internal/privacy/mech/gaussian.go",
		Old:  ` + ceilRoot(big.NewInt(int64(length))).Uint64() // 7.1`,
		New:  ``,

		Package: "./internal/privacy/mech", Test: "TestExactLossOfGaussian",
	},
	{
		Row: "unlisted 52", Bug: "noise of a change of variables has the whole of ε",
		File: "internal/privacy/mech/gamma.go",
		Old:  `return left * (1 - 0x1p-40), nil`,
		New:  `return eps.Float() * (1 - 0x1p-40), nil`,

		Package: "./internal/privacy/mech", Test: "TestExactLossOfVectors",
	},
	{
		Row: "unlisted 53", Bug: "the length of gamma noise is of half of its first exponential",
		File: "internal/privacy/mech/gamma.go",
		Old: `		length += drawExponential(src)
		x[i] = drawNormal(src)`,
		New: `		length += drawExponential(src) / float64(2-min(i, 1))
		x[i] = drawNormal(src)`,

		Package: "./internal/privacy/mech", Test: "TestLengthsByQuadrature",
	},
	{
		Row: "unlisted 55", Bug: "pate's vote is sized for a row that leaves, not for one that is replaced",
		File: "lab/internal/learn/pate/fit.go",
		Old:  `	votesMove = 2`,
		New:  `	votesMove = 1`,

		Package: "./lab/internal/noninterference", Test: "TestExactLossOfTinyFits/pate",
	},
	{
		Row: "unlisted 56", Bug: "pieces of a file that another has replaced are read beside pieces of the first",
		File: "internal/table/read/dataset/parquet_part.go",
		Old:  `	if footer != part.Footer {`,
		New:  `	if footer == "" {`,

		Package: "./internal/spark", Test: "TestAChangedFileIsRefused",
	},
	{
		Row: "unlisted 57", Bug: "the row group at which a piece of a file ends is read by nobody",
		File: "internal/spark/files.go",
		Old:  `			(*of)[end].To = group.To`,
		New:  `			(*of)[end].To = group.To - 1`,

		Package: "./internal/spark", Test: "TestPiecesAnswerAsMemory",
	},
	{
		Row: "unlisted 58", Bug: "a separator of tabs is trimmed before a quoted cell",
		File: "internal/table/read/dataset/records.go",
		Old:  ` && rs.buf[rs.r] != delimiter {`,
		New:  ` {`,

		Package: "./internal/check/noninterference", Test: "TestReadingIsTotal",
	},
	{
		Row: "unlisted 59", Bug: "a row is a comment where its first cell begins like one",
		File: "internal/table/read/dataset/records.go",
		Old:  `		case comment && !fits && !rs.broken: // 1.2`,
		New:  `		case comment:`,

		Package: "./internal/check/noninterference", Test: "TestReadingIsTotal",
	},
	{
		Row: "unlisted 60", Bug: "the first cell decides that a file is gzip",
		File: "internal/table/read/dataset/records.go",
		Old:  `	if strings.HasSuffix(file, ".gz") { // 1.3`,
		New: `	var two [2]byte
	n, _ := io.ReadFull(src, two[:])
	src = io.MultiReader(bytes.NewReader(two[:n]), src)
	if strings.HasSuffix(file, ".gz") || string(two[:n]) == "\x1f\x8b" {`,

		Package: "./internal/check/noninterference", Test: "TestReadingIsTotal",
	},
	{
		Row: "unlisted 61", Bug: "a long cell is refused",
		File: "internal/table/read/dataset/records.go",
		Old:  `		if more, err = rs.takeCell(keep); err != nil { // 1.4`,
		New: `		if more, err = rs.takeCell(keep); err == nil && len(rs.text) >= maxField {
			return rs.fault("must not hold a cell of more than 1 MiB")
		} else if err != nil {`,

		Package: "./internal/check/noninterference", Test: "TestReadingIsTotal",
	},
	{
		Row: "unlisted 62", Bug: "line ends inside cells move the lines of messages",
		File: "internal/table/read/dataset/records.go",
		Old:  `		rs.broken = rs.broken || bytes.IndexByte(piece, '\n') >= 0 // 1.5`,
		New:  `		rs.next += bytes.Count(piece, []byte{'\n'})`,

		Package: "./internal/check/noninterference", Test: "TestReadingIsTotal",
	},
	{
		Row: "unlisted 63", Bug: "a long cell in the statistics of a page is refused",
		File: "internal/table/read/pages/chunk.go",
		Old:  `most < 64*c.bytes; most *= 64 { // 1.6`,
		New:  `most <= usualPageHeader; most *= 64 {`,

		Package: "./internal/table/read/dataset", Test: "TestParquetBombs",
	},
	{
		Row: "evaluation 1", Bug: "counts of a protected class are asked for as public ones",
		File:    "internal/train/evaluation/plan.go",
		Old:     `if pl.scope == dp.PrivateFeatures { // the label is public, and so are its counts`,
		New:     `if pl.scope != "" {`,
		Package: "./internal/train/evaluation", Test: "TestNeighboursMoveTheCountsAsDeclared",
	},
	{
		Row: "evaluation 2", Bug: "rows that come and go are dealt by a seed",
		File:    "internal/train/heldout/split.go",
		Old:     `	case ByCoin(sch):`,
		New:     `	case false:`,
		Package: "./internal/train/heldout", Test: "TestSidesAreThoseOfTheTwin",
	},
	{
		Row: "evaluation 3", Bug: "cells are public where private columns decide them",
		File:    "internal/train/evaluation/plan.go",
		Old:     `case private == 0:`,
		New:     `case private >= 0:`,
		Package: "./internal/train/evaluation", Test: "TestNeighboursMoveTheCountsAsDeclared",
	},
	{
		Row: "evaluation 4", Bug: "a ledger is charged after the measurement, or never",
		File:    "internal/train/evaluation.go",
		Old:     `return guard.Train(ctx, pl, rows, acct, mech.NewExit(rng.System()))`,
		New:     `return guard.Train(ctx, pl, rows, guard.Paid(acct.Counted()), mech.NewExit(rng.System()))`,
		Package: "./cmd/discreet", Test: "TestScripts/evaluate_private",
	},
	{
		Row: "unlisted 64", Bug: "a person with a private label is on both sides of a split",
		File: "internal/train/heldout/split.go",
		Old:  "\tcase sch.Person != nil:",
		New:  "\tcase sch.Person != nil && sch.Label.Role != schema.Private:",

		Package: "./internal/train/heldout", Test: "TestNeighboursDifferOnOneSide",
	},
	{
		Row: "evaluation 5", Bug: "a large share is held out as a half",
		File: "internal/train/heldout/split.go",
		Old:  `uint64(s.HeldOut*coinSides)`,
		New:  `uint64(min(s.HeldOut, 0.5)*coinSides)`,

		Package: "./internal/train/heldout", Test: "TestSidesAreThoseOfTheTwin",
	},
	{
		Row: "evaluation 6", Bug: "all persons have one coin",
		File: "internal/train/heldout/split.go",
		Old:  `s.isHeld(s.coins(hash[:]))`,
		New:  `s.isHeld(s.coins(hash[16:]))`,

		Package: "./internal/train/heldout", Test: "TestCoinsAreIndependent",
	},
	{
		Row: "evaluation 7", Bug: "rows are dealt a second time",
		File: "internal/ledger/sides.go",
		Old:  `case is.Person == "":`,
		New:  `case is.Person == "-":`,

		Package: "./internal/ledger", Test: "TestSidesAreKept",
	},
	{
		Row: "evaluation 8", Bug: "a pair that a job has named is divided",
		File: "internal/ledger/sides.go",
		Old:  `if set.named {`,
		New:  `if set.named && name == "-" {`,

		Package: "./internal/ledger", Test: "TestSidesAreRefusedWhereTheyAreNotProven",
	},
	{
		Row: "evaluation 9", Bug: "persons are charged on the sides of rows",
		File: "internal/ledger/sides.go",
		Old:  `if d != nil && d.Person != req.Terms.Person {`,
		New:  `if d != nil && d.Person != "" && d.Person != req.Terms.Person {`,

		Package: "./internal/ledger", Test: "TestSidesAreRefusedWhereTheyAreNotProven",
	},
	{
		Row: "unlisted 65", Bug: "a private number of rows chooses the cells of an evaluation",
		File: "internal/train/evaluation.go",
		Old:  "\tunits := 0\n",
		New:  "\tunits := tab.Rows\n",

		Package: "./internal/train", Test: "TestEvaluationsDoNotTellSizes",
	},
	{
		Row: "unlisted 66", Bug: "an evaluation at another threshold is the same job",
		File: "internal/train/evaluation.go",
		Old:  `"threshold": strconv.FormatFloat(e.Params.Threshold, `,
		New:  `"threshold": strconv.FormatFloat(0*e.Params.Threshold, `,

		Package: "./internal/train", Test: "TestEveryParameterOfAnEvaluationIsATermOfTheJob",
	},
	{
		Row: "unlisted 67", Bug: "intervals reckon with half of the noise if only the label is protected",
		File: "internal/train/evaluation/plan.go",
		Old:  `r.Variance, r.Bins = 2*noisy.Variance, rows`,
		New:  `r.Variance, r.Bins = noisy.Variance, rows`,

		Package: "./internal/train/evaluation", Test: "TestStatedVarianceIsThatOfTheNoise",
	},
	{
		Row: "unlisted 68", Bug: "several rows of a person cost one",
		File: "internal/guard/guard.go",
		Old:  "\tt.Price.Epsilon *= dp.Epsilon(units)\n",
		New:  ``,

		Package: "./internal/guard", Test: "TestEachRowOfAPersonIsPaid",
	},
	{
		Row: "unlisted 69", Bug: "several rows of a person have a delta",
		File: "internal/guard/guard.go",
		Old:  `if t.Price.Delta > 0 && units > 1 {`,
		New:  `if t.Price.Delta > 0 && units > 64 {`,

		Package: "./internal/guard", Test: "TestEachRowOfAPersonIsPaid",
	},
	{
		Row: "unlisted 70", Bug: "Gaussian measurements are not counted",
		File: "internal/guard/purse.go",
		Old:  "\tp.count--\n",
		New:  ``,

		Package: "./internal/guard", Test: "TestGaussianMeasurementsAreCounted",
	},
	{
		Row: "unlisted 71", Bug: "a spread of lengths forgets that these are rounded",
		File: "internal/guard/slopes.go",
		Old:  `(most + lengthSlack)`,
		New:  `most + 0*lengthSlack`,

		Package: "./internal/guard", Test: "TestSpreadsCoverRoundedLengths",
	},
	{
		Row: "unlisted 72", Bug: "a job begins on another part than was reserved",
		File: "internal/ledger/books.go",
		Old:  `case e.Request != p.request || e.Part != p.part:`,
		New:  `case e.Request != p.request:`,

		Package: "./internal/ledger", Test: "TestWholeChainsMayContradictThemselves",
	},
	{
		Row: "unlisted 73", Bug: "a delta that is overdrawn is left",
		File: "internal/ledger/parts.go",
		Old:  ` && sum.Delta <= a.limit.Delta`,
		New:  ``,

		Package: "./internal/ledger", Test: "TestWholeChainsMayContradictThemselves",
	},
	{
		Row: "unlisted 74", Bug: "a result goes to the file of a run that was refunded",
		File: "internal/ledger/books.go",
		Old:  `if e.Kind == Reserved {`,
		New:  `if e.Kind == Reserved && p.reserved.Seq == 0 {`,

		Package: "./internal/ledger", Test: "TestRecoverForgetsTheFileOfARefundedRun",
	},
	{
		Row: "unlisted 75", Bug: "files with and without quotes have their rows in other cohorts",
		File: "internal/train/cohorts.go",
		Old:  `s.Dialect.Decimal, otherQuote(&s.Dialect)}`,
		New:  `s.Dialect.Decimal, ""}`,

		Package: "./internal/train", Test: "TestDefinitionsHoldWhateverMovesACell",
	},
	{
		Row: "unlisted 76", Bug: "parts are read with and without trimming",
		File: "internal/train/part.go",
		Old:  `c.Missing, s.Dialect.Trim, s.Dialect.Missing, placeOf(s, s.Parts), c`,
		New:  `c.Missing, false, s.Dialect.Missing, placeOf(s, s.Parts), c`,

		Package: "./internal/train", Test: "TestDefinitionsHoldWhateverMovesACell",
	},
	{
		Row: "unlisted 77", Bug: "a limit of epsilon leaves delta free",
		File: "internal/train/price.go",
		Old:  `case s.MaxEpsilon > 0 && s.MaxDelta == 0 && pr.Delta > 0:`,
		New:  `case s.MaxEpsilon > 0 && s.MaxDelta < 0 && pr.Delta > 0:`,

		Package: "./internal/train", Test: "TestPricesBeyondTheSchemasLimits",
	},
	{
		Row: "unlisted 78", Bug: "rows without a date are in the cohort of the default",
		File: "internal/table/read/dataset/selection.go",
		Old:  `cells.Marks == nil || cells.Marks[code] == 0`,
		New:  `cells.Marks == nil || len(cells.Marks) > code`,

		Package: "./internal/table/read/dataset", Test: "TestSelectionsAreOfCellsThatNameThem",
	},
	{
		Row: "unlisted 79", Bug: "proofs that a holder shows are not those of its owners",
		File: "internal/net/federated/secsum/collector.go",
		Old:  `!bytes.Equal(digest[:], c.held[m.From][o])`,
		New:  `len(digest) == 0 && o < 0`,

		Package: "./internal/net/federated/secsum", Test: "TestProofsAreShownAsTheyWereHeld",
	},
	{
		Row: "unlisted 80", Bug: "the newest anchor alone must be held",
		File: "internal/ground/anchor/anchor.go",
		Old:  "\t\tif !ok {\n",
		New:  "\t\tif !ok && h == heads[0] {\n",

		Package: "./internal/ground/anchor", Test: "TestCheck",
	},
	{
		Row: "unlisted 81", Bug: "the δ of addends is one owner's",
		File: "internal/privacy/response/addend.go",
		Old:  `* 2 * float64(l.owners) * float64(l.dim)`,
		New:  `* 2 * float64(l.dim)`,

		Package: "./internal/privacy/response", Test: "TestAddendsKeepEpsilon",
	},
	{
		Row: "unlisted 82", Bug: "noise counts on owners who are not in the sum",
		File: "internal/net/federated/wire/round.go",
		Old:  `r.Crowd.Honest > r.Crowd.AtLeast)`,
		New:  `r.Crowd.Honest > r.Crowd.Owners)`,

		Package: "./internal/net/federated/wire", Test: "TestRoundsReachTheirBounds",
	},
	{
		Row: "unlisted 83", Bug: "a party adds to a sum with some of its helpers",
		File: "internal/net/service/party/secret.go",
		Old:  `len(announced.Helpers) != len(s.Helpers)`,
		New:  `len(announced.Helpers) > len(s.Helpers)`,

		Package: "./internal/net/service/party", Test: "TestSumsThatAreRefused",
	},
	{
		Row: "unlisted 84", Bug: "a task is taken after its end",
		File: "internal/net/service/tasks/announce.go",
		Old:  "\tif !at.Before(a.Ends) {",
		New:  "\tif at.IsZero() {",

		Package: "./internal/net/service/tasks", Test: "TestSignedTasksOfOthersAreRefused",
	},
	{
		Row: "unlisted 85", Bug: "the paper's noise meets classes that weigh differently",
		File: "internal/guard/mistakes/rows.go",
		Old:  `if units[0] != units[1] && (r.question.Paper || !r.question.Classes) {`,
		New:  `if units[0] != units[1] && !r.question.Classes {`,

		Package: "./internal/guard", Test: "TestMistakesAreAskedInOrder",
	},
	{
		Row: "unlisted 86", Bug: "a share of classes is of weighted rows",
		File: "internal/guard/mistakes/rows.go",
		Old:  `|| !r.isEven() || len(r.reach.list) > 1 {`,
		New:  `|| !r.isEven() {`,

		Package: "./internal/guard", Test: "TestMistakesAreAskedInOrder",
	},
	{
		Row: "unlisted 87", Bug: "a refused number is repeated",
		File: "internal/table/read/coding/row.go",
		Old:  `Got: "another cell"}`,
		New:  `Got: cell}`,

		Package: "./internal/table/read/dataset", Test: "TestRefusedCellsAreNotRepeated",
	},
}
