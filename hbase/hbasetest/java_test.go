package hbasetest_test

import (
	"bytes"
	"regexp"
	"testing"

	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

// stack matches the lines of a stack trace.
var stack = regexp.MustCompile(`(?m)^\s+(at|\.\.\.) .*\n`)

// java returns HBase's own Java client, compiled once for all the servers that it is tried on.
func java(t *testing.T) hbasetest.Client {
	classpath := testenv.Java(t).Compile(t, "java/Conform.java", "java/Load.java", "java/Mutations.java", "java/Quotas.java", "java/Regions.java", "java/Rights.java", "java/RowDigest.java",
		"java/Snapshots.java", "java/Text.java")
	return func(t *testing.T, connect, prefix string, scripts []*hbasetest.Script) []hbasetest.Answers {
		args := []string{connect, prefix}
		for _, s := range scripts {
			args = append(args, s.Path)
		}
		var log bytes.Buffer
		cmd := classpath.Command(t, "Conform", args...)
		cmd.Stderr = &log
		out, err := cmd.Output()
		t.Logf("what the Java client logged:\n%s", stack.ReplaceAll(log.Bytes(), nil))
		if err != nil {
			t.Fatalf("java: %v, after %q", err, out)
		}
		return hbasetest.ReadAnswers(t, out, scripts)
	}
}
