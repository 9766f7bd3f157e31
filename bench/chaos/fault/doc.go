// Package fault has the ways in which a real cluster is broken while something runs on it: processes are killed or hang, regions are split,
// merged or moved. bench/chaos/hbase breaks HBase under brine's client, bench/chaos/pipeline breaks brine and everything on which it runs,
// bench/chaos/index breaks the index next to brine; nothing else imports it.
//
// Read plan.go (which faults, in which order), scene.go (where a fault plays), regions.go and servers.go (what each does to HBase),
// processes.go (the cluster's processes), watch.go (how long the cluster itself takes to recover), offsets.go (how far brine's groups are),
// verify.go (what brine verify reports at the end).
package fault
