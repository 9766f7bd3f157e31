package hbasetest_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

// asynchbase shares no code with HBase's own client: it finds HBase in ZooKeeper, and speaks the protocol as clients of HBase 1 do. It
// returns what HBase's client returned from the real server.
func TestAsynchbase(t *testing.T) {
	classpath := testenv.Asynchbase(t)
	scripts := slices.DeleteFunc(load(t), func(s *hbasetest.Script) bool {
		return !slices.Contains([]string{"bytes.txt", "plain.txt", "versions.txt"}, s.Name())
	})
	client := func(zooKeeper string) hbasetest.Client {
		program := hbasetest.Program(func(t *testing.T, args ...string) *exec.Cmd {
			return classpath.Command(t, "Async", append([]string{zooKeeper}, args[1:]...)...)
		})
		return between(hbasetest.Go, program)
	}
	t.Run("on the real server", func(t *testing.T) {
		connect := testenv.HBase(t)
		zooKeeper, _, _ := strings.Cut(strings.TrimPrefix(testenv.HBaseZooKeeper(t), "zk://"), "/")
		hbasetest.Conform(t, client(zooKeeper), connect, prefix(t), scripts, false)
	})
	t.Run("on the embedded server", func(t *testing.T) {
		s := hbasetest.Run(t, func(o *embedded.Options) { o.ZooKeeper, o.Servers = "127.0.0.1:0", 3 })
		hbasetest.Conform(t, client(s.ZooKeeper()), s.Connect(), prefix(t), scripts, false)
	})
}

// between returns a client that leaves to outer what inner cannot do: the operations at the beginning of a script that make its tables, and
// those at its end that check and drop them.
func between(outer, inner hbasetest.Client) hbasetest.Client {
	return func(t *testing.T, connect, prefix string, scripts []*hbasetest.Script) []hbasetest.Answers {
		var before, after []*hbasetest.Script
		for _, s := range scripts {
			first := slices.IndexFunc(s.Ops, func(op hbasetest.Op) bool { return !ofTables(op) })
			last := len(s.Ops)
			for last > first && ofTables(s.Ops[last-1]) {
				last--
			}
			before = append(before, &hbasetest.Script{Path: s.Path, Ops: s.Ops[:first]})
			after = append(after, &hbasetest.Script{Path: s.Path, Ops: s.Ops[last:]})
		}
		made := outer(t, connect, prefix, before)
		answers := inner(t, connect, prefix, scripts)
		dropped := outer(t, connect, prefix, after)
		for i := range scripts {
			maps.Copy(answers[i], made[i])
			maps.Copy(answers[i], dropped[i])
		}
		return answers
	}
}

func ofTables(op hbasetest.Op) bool {
	return slices.Contains([]string{"create", "regions", "digest", "disable", "drop"}, op.Words[0])
}
