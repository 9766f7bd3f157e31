// Package chaos collects the runs that break real servers, and brine itself, and then check whether anything was lost. Each is a package
// below, and shares its faults with the others in package fault.
package chaos

import (
	"brine/bench/chaos/hbase"
	"brine/bench/chaos/index"
	"brine/bench/chaos/pipeline"
)

// Command is the command line.
type Command struct {
	Pipeline pipeline.Command `cmd:"" help:"Break real Kafka, HBase and brine itself while events come in, and verify."`
	HBase    hbase.Command    `cmd:"" name:"hbase" help:"Break a real HBase cluster under load, and count."`
	Index    index.Command    `cmd:"" help:"Kill and freeze a real Elasticsearch while brine fills it and a real HBase, and verify."`
}
