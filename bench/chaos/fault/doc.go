// Package fault is the ways in which a real cluster is broken while something runs on it: processes that are killed or hang, regions
// that split, merge, move. bench/chaos/hbase breaks HBase under brine's client, bench/chaos/pipeline breaks all that brine itself runs
// on, and brine, bench/chaos/index the index beside brine; nothing else imports it.
//
// Read plan.go (which faults, in which order), scene.go (where one plays), regions.go and servers.go (what each does to HBase),
// processes.go (the cluster's processes), watch.go (how long the cluster itself takes to recover), offsets.go (how far brine's groups
// are), verify.go (what brine verify says when all is over).
package fault
