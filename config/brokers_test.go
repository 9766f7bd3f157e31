package config

import (
	"strings"
	"testing"
	"time"
)

func TestBrokers(t *testing.T) {
	cfg, problems := Brokers(environ("BRINE_KAFKA_BROKERS", "a:1, b:2", "BRINE_KAFKA_REQUEST_TIMEOUT", "3s", "BRINE_HBASE_RETRIES", "much"))
	if problems.Err() != nil || len(cfg.Kafka.Brokers) != 2 || cfg.Kafka.RequestTimeout != 3*time.Second || cfg.Kafka.Group != "brine" || cfg.Memory != 64<<20 || len(cfg.Pipelines) != 0 {
		t.Errorf("%+v, %v", cfg, problems)
	}
	p := cfg.Found("scans", "courier.scans", "rows")
	if cfg.Found("scans", "courier.scans", "documents") != p || len(p.Rows) != 1 || len(p.Documents) != 1 || cfg.Found("scans", "courier.old", "rows") == p || len(cfg.Pipelines) != 2 {
		t.Errorf("found %d pipelines", len(cfg.Pipelines))
	}
	if p.RowsGroup() != "brine.scans.rows" || p.DeadLetterTopic() != "courier.scans.dead" || cfg.Ingest(p, p.RowsGroup()).RequestTimeout != 3*time.Second {
		t.Errorf("found %+v", p)
	}
	for _, env := range [][]string{{"BRINE_KAFKA_BROKERS", "a"}, {"BRINE_KAFKA_GROUP", "g"}, {"BRINE_KAFKA_BROKERS", "a:1", "BRINE_KAFKA_SASL_USER", "u"}} {
		if cfg, problems := Brokers(environ(env...)); cfg != nil || problems.Err() == nil {
			t.Errorf("%v: no error", env)
		}
	}
}

func TestPipelineOf(t *testing.T) {
	k := Kafka{Group: "brine"}
	for group, want := range map[string][2]string{
		"brine.scans.rows": {"scans", "rows"}, "brine.scans.documents": {"scans", "documents"}, "brine.a.b.rows": {"a.b", "rows"},
		"brine.scans.rows.replay.x": {}, "brine.scans": {}, "brine.rows": {}, "brine..rows": {}, "other.scans.rows": {}, "": {}, "brine": {},
	} {
		name, half, ok := k.PipelineOf(group)
		if name != want[0] || half != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: %q, %q, %t", group, name, half, ok)
		}
	}
}

// A session_timeout that may outlast the brokers' session is warned about; with the classic protocol the brokers are given it.
func TestSessionTimeoutOfOtherProtocols(t *testing.T) {
	for protocol, warned := range map[string]bool{"classic": false, "consumer": true, "auto": true} {
		for timeout, long := range map[string]bool{"10s": false, "45s": false, "46s": true} {
			source := strings.Replace(minimal, "kafka: {", "kafka: { session_timeout: "+timeout+", group_protocol: "+protocol+",", 1)
			_, problems := Parse("brine.yaml", []byte(source), environ())
			if strings.Contains(problems.String(), "kafka.session_timeout: is longer than the 45s") != (warned && long) {
				t.Errorf("%s, %s: %v", protocol, timeout, problems)
			}
		}
	}
}
