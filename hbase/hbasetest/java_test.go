package hbasetest_test

import (
	"os/exec"
	"testing"

	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

// java returns HBase's own Java client, compiled once for all the servers that it runs against.
func java(t *testing.T) hbasetest.Client {
	classpath := testenv.Java(t).Conform(t)
	return hbasetest.Program(func(t *testing.T, args ...string) *exec.Cmd { return classpath.Command(t, "Conform", args...) })
}
