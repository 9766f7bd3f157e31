// Package skew says where the writes of a table go: how evenly over its regions, servers and salt buckets, which regions are hot, why,
// and what helps. It turns counts and row keys into indices, a history of key space over time, and advice whose effect it simulates
// on rows that it has seen. It imports nothing of ours.
//
// The invariant: a region without writes counts as zero; what regions were given goes over to those that they are split or merged
// into, so sums never change; what chance explains is no heat; and memory is bounded by the number of regions, whatever the keys.
package skew
