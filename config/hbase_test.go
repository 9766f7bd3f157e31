package config

import (
	"strings"
	"testing"
	"time"
)

// TestOnlyHBaseIsRead checks that commands that need nothing but an HBase load a configuration whose other sections are absent or wrong, and
// that mistakes in what they read are reported as ever.
func TestOnlyHBaseIsRead(t *testing.T) {
	const section = "hbase: { connect: \"rpc://master1:16000\", rpc_timeout: 7s }\n"
	for _, others := range []string{"", "kafka: ${NOBODY_SETS_THIS}\npipelines: { p: { topik: 1 } }\nshelf: 1\n", "memory: 128MiB\n"} {
		cfg, problems := ParseHBase("a.yaml", []byte(section+others), environ())
		if len(problems) > 0 {
			t.Errorf("with %q: %v", others, problems)
			continue
		}
		if o := cfg.HBase(); o.Connect != "rpc://master1:16000" || o.RPCTimeout != 7*time.Second || o.Pause == 0 {
			t.Errorf("with %q: %+v", others, o)
		}
	}
	small, _ := ParseHBase("a.yaml", []byte(section), environ())
	large, _ := ParseHBase("a.yaml", []byte(section+"memory: 1GiB\n"), environ())
	if small.HBase().MaxBufferedBytes >= large.HBase().MaxBufferedBytes {
		t.Errorf("memory counts for nothing: %d bytes", large.HBase().MaxBufferedBytes)
	}
	cfg, problems := ParseHBase("a.yaml", []byte("memory: 64MiB\n"),
		environ("BRINE_HBASE_CONNECT", "rpc://other:16000", "BRINE_KAFKA_BROKERS", "{"))
	if len(problems) > 0 || cfg.HBase().Connect != "rpc://other:16000" {
		t.Errorf("by the environment: %v", problems)
	}
	for source, want := range map[string]string{
		"kafka: { brokers: [a:1] }\n":                                 "a.yaml: hbase.connect: is missing",
		"hbase:\n":                                                    "hbase.connect: is missing",
		"hbase: { conect: \"rpc://a:1\" }\n":                          "a.yaml:1:10: hbase.conect: unknown setting",
		"hbase: { connect: \"http://a:1\" }\n":                        "a.yaml:1:19: hbase.connect: has an unknown scheme",
		"hbase: { connect: \"rpc://a:1\" }\nhbase: {}\n":              "a.yaml:2:1: hbase: is set twice",
		"hbase: { connect: \"rpc://a:1\", tls: { ca: nowhere.pem } }": "hbase.tls",
		"memory: 1KiB\nhbase: { connect: \"rpc://a:1\" }\n":           "a.yaml:1:9: memory: ",
		"hbase: { connect: \"rpc://a:1\", user: \"${NOT_SET}\" }\n":   "NOT_SET",
		"- hbase\n": "not a mapping",
	} {
		if cfg, problems := ParseHBase("a.yaml", []byte(source), environ()); cfg != nil || !strings.Contains(problems.String(), want) {
			t.Errorf("%q: %v, want %q", source, problems, want)
		}
	}
}
