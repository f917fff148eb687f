// SPDX-License-Identifier: Apache-2.0

package lint

import "github.com/discreet-dp/discreet/internal/lint/private"

// statisticRules are about what tables answer and what learners do with it: private numbers
// go through the mechanisms, and decide, size, label, print and store nothing else.
//
// What a learner may look at stands in three short lists, each with a reason that a reviewer can
// check. A new entry is a change that needs a privacy review.
func statisticRules(module string) *private.Rules {
	return &private.Rules{
		Module: module,
		Packages: []string{"./internal/learn", "./internal/learn/additive", "./internal/learn/auto", "./internal/learn/brc",
			"./internal/learn/erm", "./internal/learn/grids", "./internal/learn/labeldp", "./internal/learn/logistic",
			"./lab/internal/learn/pate", "./lab/internal/learn/people", "./internal/learn/random", "./internal/tune",
			"./internal/table/dataset", "./internal/table/engine", "./internal/table/engine/kernel",
			"./internal/table/feature", "./internal/table/column", "./internal/privacy/accounting", "./internal/privacy/dp",
			"./internal/privacy/mech", "./internal/privacy/rng", "./internal/shrink", "./internal/optimize",
			"./internal/model"},
		Roots: []string{"learn/additive", "learn/auto", "learn/brc", "learn/erm", "learn/grids", "learn/labeldp",
			"lab/internal/learn/pate", "lab/internal/learn/people", "tune"},
		Private: privateAnswers,
		Answers: map[string]bool{
			"table/engine.Table.Mistakes": false, "table/engine.Table.Groups": false, "table/engine.Table.Cells": false,
			"table/engine.Table.ClassCells": false, "table/engine.Table.ClassSlope": false,
			"table/engine.Table.ClassResiduals": false, "table/engine.Table.GridSlopes": false,
			"table/engine.Table.LogisticSums": false, "table/engine.Table.MarginSums": false,
			"table/engine.Table.Margins": false, "table/engine.Table.Schema": false, "table/engine.Table.Rows": false,
			"table/engine.Table.Persons": false, "table/engine.Persons.Count": false,
			"table/engine.Persons.CountAbove": true, "table/engine.Persons.Weigh": false,
			"table/engine.Persons.Draw": false, "table/engine.Persons.Ignore": false,
			"table/engine.Table.Against": false, "table/engine.Margins.Len": false, "table/engine.Margins.Weight": false,
			"table/engine.Margins.Head": false, "table/engine.Margins.Sums": false, "table/engine.Margins.Right": true,
		},
		Exits: []string{"privacy/mech.Exit.Release", "privacy/mech.Exit.Select", "privacy/mech.Exit.Perturb",
			"privacy/mech.Exit.PerturbCell"},
		Public:  []string{"table/feature", "table/schema", "model"},
		Here:    publicAnswers,
		Kernels: statisticKernels,
		Clean: []string{"lab/internal/learn/people.publicError", "lab/internal/learn/pate.roll.sumSpreads",
			"learn/additive.binaryFit.fitGreedily"},
		Skipped: printedTeachers,
		Pure: []string{"math", "slices", "sort", "cmp", "maps", "context", "sync", "runtime", "strings", "strconv",
			"gonum.org/v1/gonum", module + "/internal/table/engine/memory"},
	}
}

// privateAnswers are the fields of tables' answers, and what is made of them.
var privateAnswers = map[string]private.Field{
	"table/engine.Patterns.Bits": {Length: true}, "table/engine.Patterns.Count": {Length: true},
	"table/engine.CellSums.Positive": {}, "table/engine.CellSums.Negative": {},
	"table/engine.ClassCells.Rows": {},
	"table/engine.ClassSlope.Gain": {}, "table/engine.ClassSlope.HalfCurve": {},
	"table/engine.ClassResiduals.Above": {}, "table/engine.ClassResiduals.Below": {},
	"table/engine.GridSums.Slopes": {}, "table/engine.GridSums.Curves": {},
	// Others group by public columns and labels.
	"table/engine.Groups.Counts": {In: []string{"learn/additive", "learn/labeldp", "lab/internal/learn/pate", "tune"}},
	"table/dataset.Table.Labels": {In: []string{"tune"}},
	// Others fit public columns and labels, or what was released.
	"table/engine.LossSums.Loss": {In: ermAlone}, "table/engine.LossSums.Grad": {In: ermAlone},
	"table/engine.LossSums.Hess": {In: ermAlone},
	"optimize.Point.Value":       {In: ermAlone}, "optimize.Point.Grad": {In: ermAlone},
	"optimize.Point.Hess": {In: ermAlone},
	"optimize.Optimum.X":  {In: ermAlone}, "optimize.Optimum.Value": {In: ermAlone},
	"optimize.Optimum.GradNorm": {In: ermAlone},
	"privacy/mech.Ratio.Num":    {},
}

var ermAlone = []string{"learn/erm"}

// publicAnswers are functions in which answers are public, and why.
var publicAnswers = map[string]string{
	"learn/additive.fit.groupPublic":       "it is called where labels are public",
	"learn/additive.countGroups":           "it adds up over labels: how often public rows occur",
	"learn/additive.fit.addPublicPairs":    "it asks for cells of pairs of public columns under a public score (1.5)",
	"learn/grids.countPublic":              "it is called where labels are public",
	"learn/labeldp.halfCounts":             "it adds up over labels: how often public rows occur",
	"lab/internal/learn/pate.labelWeights": "it is called with groups of public columns, whose label is public (1.4)",
}

// statisticKernels are the functions that may branch on private numbers, and why nothing of
// it shows but in time, which no guarantee covers. What they return is private.
var statisticKernels = map[string]string{
	"table/engine.":                                   "weights and losses of one row: sums of them are what tables answer",
	"optimize.":                                       "where it stops shows in the point, which is private if its function is",
	"privacy/mech.RatioOf":                            "exact conversion; a value that is refused there has broken its bound",
	"learn/brc.newPrivateRows":                        "a weight for each pattern of mistakes: how many there are stays inside",
	"learn/brc.shapes.answerPatterns":                 "each pattern by its own bits",
	"learn/brc.privateRows.sumWeights":                "a sum over patterns",
	"learn/brc.privateRows.sumWeighed":                "a sum over patterns",
	"learn/brc.privateRows.edgeScore":                 "a size without its sign, for a selection",
	"learn/brc.privateRows.reweighPatterns":           "each pattern by its own bit",
	"learn/brc.clip.stepWeight":                       "each weight by itself",
	"lab/internal/learn/people.smooth.projectMeasure": "the level is a function of all weights, and stays inside",
	"lab/internal/learn/people.smooth.weightsAtLevel": "a sum over patterns",
	"lab/internal/learn/people.smooth.wrongWeight":    "a sum over patterns",
	"lab/internal/learn/people.smooth.moveMargins":    "each pattern by its own bit",
	"lab/internal/learn/people.publicError":           "of a public classifier and a public label, hence public (1.4)",
	"learn/erm.walkDownhill":                          "any certified point will do: noise covers its distance (2.3)",
	"learn/erm.minimiseQuickly":                       "as walkDownhill",
	"learn/erm.minimiseSurface":                       "as walkDownhill",
	"learn/erm.minimiseAccelerated":                   "as walkDownhill",
	"learn/erm.Plan.findMinimum":                      "as walkDownhill",
	"learn/additive.measureLeftover":                  "for plans without privacy",
	"learn/additive.binaryFit.fitGreedily":            "for plans without privacy",
	"lab/internal/learn/pate.newRoll":                 "a place for each row; how many there are is public",
	"lab/internal/learn/pate.scaleTo":                 "a size and its sign",
	"tune.dealRows":                                   "a place for each row; how many there are is public",
	"tune.sumLogLosses":                               "a sum over rows",
	"tune.stepsOfLoss":                                "of one row, for a sum over rows",
	"tune.countWrongPairs":                            "a sum over pairs of rows",
	"tune.countMistakes":                              "a sum over rows",
}

// printedTeachers are the printed form of pate, which states what it does not protect.
var printedTeachers = map[string]string{
	"lab/internal/learn/pate.Plan.fitPrinted": "its models state that nothing is protected",
}
