package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const minimal = `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "embedded:./data" }
tables:
  t: { row: entity, key: "md5(id, 4) + id", families: { e: {} } }
pipelines:
  p:
    topic: p
    fields: { id: text, v: text }
    rows: [ { table: t, set: { "e:v": v } } ]
`

func TestEnvironmentOverrides(t *testing.T) {
	for _, c := range []struct {
		name, source string
		env          []string
		got          func(*Config) any
		want         any
	}{
		{"list", minimal, []string{"BRINE_KAFKA_BROKERS", "a:1, b:2"}, func(c *Config) any { return c.Kafka.Brokers }, []string{"a:1", "b:2"}},
		{"text", minimal, []string{"BRINE_HBASE_CONNECT", "rpc://m:16000"}, func(c *Config) any { return c.Cluster.Connect }, "rpc://m:16000"},
		{"absent section", minimal, []string{"BRINE_HTTP_LISTEN", "127.0.0.1:0"}, func(c *Config) any { return c.HTTP.Listen }, "127.0.0.1:0"},
		{"top level", minimal, []string{"BRINE_MEMORY", "32MiB"}, func(c *Config) any { return c.Memory }, Bytes(32 << 20)},
		{"number", minimal, []string{"BRINE_HBASE_RETRIES", "7"}, func(c *Config) any { return c.HBase().Retries }, 7},
		{"no expansion", minimal, []string{"BRINE_HBASE_USER", "${HOME}"}, func(c *Config) any { return c.Cluster.User }, "${HOME}"},
		{"fixes what is missing", strings.Replace(minimal, "brokers: [localhost:9092]", "", 1), []string{"BRINE_KAFKA_BROKERS", "a:1"},
			func(c *Config) any { return c.Kafka.Brokers }, []string{"a:1"}},
		{"null section", "kafka:\n" + strings.Replace(minimal, "kafka: { brokers: [localhost:9092] }", "", 1), []string{"BRINE_KAFKA_BROKERS", "a:1"},
			func(c *Config) any { return c.Kafka.Brokers }, []string{"a:1"}},
		{"no override", minimal, nil, func(c *Config) any { return c.Kafka.Group }, "brine"},
		{"variable", strings.Replace(minimal, "./data", "${A}/${B}$${C}", 1), []string{"A", "a b: c", "B", ""}, func(c *Config) any { return c.Cluster.Connect }, "embedded:a b: c/${C}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, problems := Parse("brine.yaml", []byte(c.source), environ(c.env...))
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(cfg)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEnvironmentFaultsNameTheVariable(t *testing.T) {
	_, problems := Parse("brine.yaml", []byte(minimal), environ(
		"BRINE_KAFKA_BROKERS", "localhost", "BRINE_MEMORY", "much", "BRINE_HBASE_RETRIES", "1", "BRINE_HBASE_CONNECT", ""))
	const want = `BRINE_HBASE_CONNECT: hbase.connect: is empty; write connect: rpc://master1:16000,master2:16000 [missing]
BRINE_HBASE_RETRIES: warning: hbase.retries: so few retries are over before a region has moved or been split: its rows then come back, and the loop submits their events again and again, which takes longer; leave it at 15 [few-retries]
BRINE_KAFKA_BROKERS: kafka.brokers[0]: is not a valid broker address; write host:port [address]
BRINE_MEMORY: memory: its value is not a size; write memory: 64MiB [type]
`
	if diff := cmp.Diff(want, problems.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUnknownEnv(t *testing.T) {
	problems := UnknownEnv([]string{"HOME=/", "BRINE_KAFKA_BROKERS=a:1", "BRINE_KAFKA_BROKER=a:1", "BRINE_HBASE_FOO=1", "BRINE_REAL=required",
		"BRINE_CONFIG=x", "KAFKA_BROKER=1", "BRINE_MEMROY=1MiB"})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		"BRINE_HBASE_FOO: warning: matches no setting; see docs/configuration.md for the variables that do [unknown-variable]",
		"BRINE_KAFKA_BROKER: warning: matches no setting; did you mean BRINE_KAFKA_BROKERS? [unknown-variable]",
		"BRINE_MEMROY: warning: matches no setting; did you mean BRINE_MEMORY? [unknown-variable]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if problems.Err() != nil {
		t.Error("a stray variable keeps brine from starting")
	}
}
