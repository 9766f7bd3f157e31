package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/config"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/sample"
	"brine/internal/testenv"
	"brine/publish"
)

const designsDir = "../../examples/designs"

// designs are the examples in examples/designs, with the field that is the key of their records.
var designs = []struct{ name, key string }{
	{"scans-s", "waybill"},
	{"scans-ms", "waybill"},
	{"user-orders", "order"},
	{"order-by-id", "buyer"},
	{"user-index", "order"},
	{"token-index", "order"},
	{"messages", "device"},
	{"buyer-seller", "from"},
	{"risk-log", "id"},
	{"areas", "area"},
	{"hourly", "station"},
	{"tall-wide", "order"},
}

// TestDesigns creates each design's tables, takes its events through Kafka into them, and runs its queries, on both servers. queries.txt
// holds the commands and their output; UPDATE_DESIGNS=1 writes the embedded server's output into it.
func TestDesigns(t *testing.T) {
	notShort(t)
	t.Parallel()
	for _, server := range []struct {
		name  string
		hbase func(t *testing.T) string
	}{{"embedded", embeddedHBase}, {"real", func(t *testing.T) string { return testenv.HBase(t) }}} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			s := stack{brokers: testenv.KafkaFake(t, devPartitions).ListenAddrs(), hbase: server.hbase(t), lasting: server.name == "real", search: "embedded:" + filepath.Join(t.TempDir(), "search")}
			for _, d := range designs {
				t.Run(d.name, func(t *testing.T) {
					j := newDesign(t, s, d.name, d.key)
					want, err := os.ReadFile(filepath.Join(designsDir, d.name, "queries.txt"))
					if err != nil {
						t.Fatal(err)
					}
					got := j.answers(string(want))
					if os.Getenv("UPDATE_DESIGNS") != "" && !s.lasting {
						if err := os.WriteFile(filepath.Join(designsDir, d.name, "queries.txt"), []byte(got), 0o644); err != nil {
							t.Fatal(err)
						}
						return
					}
					if diff := cmp.Diff(string(want), got); diff != "" {
						t.Errorf("-queries.txt +answers:\n%s", diff)
					}
					j.checkPlan()
				})
			}
		})
	}
}

func embeddedHBase(t *testing.T) string {
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return "rpc://" + server.Addr()
}

// design is a job with the tables of an example in examples/designs.
type design struct {
	*job
	events string        // as they are in the example
	prefix string        // of its tables' names
	later  time.Duration // how far its events are shifted
}

// newDesign fills the tables of a design. It shifts all times by whole days so that the newest is within the last day, because a table with
// a TTL hides older rows.
func newDesign(t *testing.T, s stack, name, key string) *design {
	t.Helper()
	dir := filepath.Join(designsDir, name)
	source, err := os.ReadFile(filepath.Join(dir, "brine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(filepath.Join(dir, "brine.yaml"), func(string) (string, bool) { return "", false })
	if cfg == nil {
		t.Fatal(problems)
	}
	unique := testenv.Name(t)
	d := &design{job: &job{stack: s, t: t, name: unique, topic: unique, file: filepath.Join(t.TempDir(), "brine.yaml")}, events: string(events), prefix: "designs:" + unique + "_"}
	d.later = time.Since(newest(string(events))).Truncate(24 * time.Hour)
	text := strings.NewReplacer("designs:", d.prefix, "topic: "+cfg.Pipelines[0].Topic+"\n", "topic: "+unique+"\n",
		"group: brine", "group: "+unique+"\n  commit_interval: 100ms").Replace(string(source))
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.lasting {
		for _, table := range cfg.Tables {
			t.Cleanup(func() { dropTable(t, s.hbase, d.named(table.Name)) })
		}
	}
	if err := createTopicBy(t.Context(), d.client(), d.topic, devPartitions); err != nil {
		t.Fatal(err)
	}
	d.must("tables", "apply", "-c", d.file)
	n, err := appenderBy(d.client(), d.topic).Publish(t.Context(), publish.Keyed(sample.Lines(strings.NewReader(shiftTimes(string(events), d.later))), key))
	if err != nil || n != bytes.Count(events, []byte("\n")) {
		t.Fatalf("%d events are published: %v", n, err)
	}
	d.must("run", "-q", "-c", d.file, "--until-end")
	if ends, err := endOffsets(t.Context(), d.client(), d.topic+".dead"); err == nil && sum(ends) > 0 {
		t.Fatalf("%d events are dead letters", sum(ends))
	}
	return d
}

func (d *design) named(table string) string {
	return d.prefix + strings.TrimPrefix(table, "designs:")
}

// dropTable deletes a table on a server that outlives the test.
func dropTable(t *testing.T, connect, table string, by ...*hbase.TLS) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // the test's own context has ended
	defer cancel()
	client, err := hbase.Open(ctx, hbase.Options{Connect: connect, TLS: only(by)})
	if err != nil {
		t.Error(err)
		return
	}
	defer client.Close()
	if err := errors.Join(client.DisableTable(ctx, table), client.DeleteTable(ctx, table)); err != nil {
		t.Error(err)
	}
}

// TestDesignsAreChecked checks that each design is valid, and which of them brine check warns about.
func TestDesignsAreChecked(t *testing.T) {
	warnings := map[string]string{
		"messages": string(config.ManyVersions), // as its authors designed it
	}
	files, err := filepath.Glob(filepath.Join(designsDir, "*", "brine.yaml"))
	if err != nil || len(files) != len(designs) {
		t.Errorf("%d configurations, %d of them are tried: %v", len(files), len(designs), err)
	}
	for _, d := range designs {
		_, problems := config.Load(filepath.Join(designsDir, d.name, "brine.yaml"), func(string) (string, bool) { return "", false })
		var got []string
		for _, p := range problems {
			if p.Severity != config.Advice {
				t.Log(p)
				got = append(got, string(p.Code))
			}
		}
		if strings.Join(got, " ") != warnings[d.name] {
			t.Errorf("%s: %v, want %s", d.name, got, warnings[d.name])
		}
	}
}
