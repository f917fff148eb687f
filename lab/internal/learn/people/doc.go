// SPDX-License-Identifier: Apache-2.0

// Package people boosts over the rows of a table by smooth re-weighting:
// Boosting for People, made complete.
//
// Claim G-PEOPLE-1 (partially private): with a public label and public columns,
// what Fit returns is (ε, 0)-DP in the private columns of one row, under
// replacement of those. Claim G-PEOPLE-2 (everything private): in a whole row
// with its label, under replacement. Argument: evidence/guarantees/people.md; the
// lines it leans on carry the tags 1.1 to 1.6.
//
// A round weighs the rows by how wrong the votes so far are about them, no row
// more than the share 1/(κn) of the whole; chooses a classifier privately from a
// list that no row has shaped; and votes for it by a noisy weighted error. The
// cap is what both releases of a round are sized for.
//
// Time: one pass over the rows for all candidates, then for each round a pass
// over the distinct mistake patterns and candidates. Prefer it if few
// private columns tell much each; brc spends nothing on choosing and so needs
// less of ε per round.
//
// Source: Dwork, Rothblum, Vadhan, "Boosting and Differential Privacy" (FOCS
// 2010), its boosting for people; the projection is that of Barak, Hardt, Kale
// (SODA 2009), brought to privacy by Bun, Carmosino, Sorrell (COLT 2020).
// evidence/guarantees/people.md says what is whose.
package people
