// Package skew shows where the writes to a table go: how evenly over its regions, servers and salt buckets, which regions are hot, why, and
// what helps. It turns counts and row keys into indices, a history of key space over time, and advice whose effect it simulates on rows
// that it has sampled. It imports none of our packages.
//
// The invariant: a region without writes counts as zero. The counts of a region that is split or merged move to its successors, so sums
// never change. What chance explains does not count as heat. The number of regions bounds the memory, whatever the keys.
package skew
