// Package plan predicts the properties of a table before it is created: how its rows will spread over regions, where to split it, which
// events would hide each other, how much disk, how many regions and servers it will need, and whether HBase is the right store for it at
// all. Its inputs are the rows of sampled events and the numbers that a sample cannot contain (events per second, how long they are kept).
// `brine tables plan` and `brine check` show it.
//
// The invariant: a plan is a pure function of the set of sampled rows. Their order, and their distribution over Tallies that are merged
// later, change nothing. Memory is bounded by constants, however many rows there are: beyond them counts of distinct rows become estimates,
// and are marked as such.
package plan
