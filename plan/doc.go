// Package plan foresees what a table will be like before it is made: how its rows will spread over regions, where to split
// it, which events would hide each other, how much disk, how many regions and servers it will need, and whether HBase is the
// right store for it at all. It is given the rows of sampled events and the numbers that the sample cannot know (events a
// second, how long they are kept). `brine tables plan` and `brine check` show it.
//
// The invariant: a plan is a pure function of the set of sampled rows. The order in which they come, and how they are dealt out
// to Tallies that are merged later, change nothing. Memory is bounded by constants, however many rows come: beyond them counts
// of distinct rows become estimates, and say so.
package plan
