package service_test

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/ingest/offsets"
	"brine/internal/testenv"
	"brine/service/devstack"
)

// ground is the servers that a test uses.
type ground struct {
	prefix  string // prefix of the names of topics, tables, indexes and the group
	getenv  func(string) (string, bool)
	prepare func(context.Context, *config.Config) error
	servers *devstack.Stack // nil for real servers
}

// embeddedGround starts servers in this process for one test.
func embeddedGround(t *testing.T) ground {
	t.Helper()
	servers, err := devstack.Start(devstack.Options{Dir: t.TempDir(), HBaseNodes: 1, ScannerLease: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	return ground{"", servers.Getenv, servers.Prepare, servers}
}

// realGround returns the real servers, on which the test's objects have unique names.
func realGround(t *testing.T) ground {
	t.Helper()
	env := map[string]string{
		"BRINE_KAFKA_BROKERS": strings.Join(testenv.Kafka(t), ","), "BRINE_HBASE_CONNECT": testenv.HBase(t),
		"BRINE_SEARCH_CONNECT": testenv.Elasticsearch(t), "BRINE_HTTP_LISTEN": "127.0.0.1:0",
	}
	log := slog.New(slog.DiscardHandler)
	prepare := func(ctx context.Context, cfg *config.Config) error {
		client := offsets.Open(cfg.Kafka.Options(), cfg.Kafka.RequestTimeout)
		defer client.Close()
		for _, p := range cfg.Pipelines {
			if err := client.CreateTopic(ctx, p.Topic, devstack.Partitions); err != nil {
				return err
			}
		}
		t.Cleanup(func() { dropTables(t, cfg) })
		return devstack.CreateMissing(ctx, cfg, log)
	}
	return ground{testenv.Name(t) + "_", func(name string) (string, bool) { v, ok := env[name]; return v, ok }, prepare, nil}
}

func dropTables(t *testing.T, cfg *config.Config) {
	client, err := hbase.Open(context.Background(), cfg.HBase())
	if err != nil {
		t.Error(err)
		return
	}
	defer client.Close()
	for _, table := range cfg.Tables {
		if err := client.DisableTable(context.Background(), table.Name); err != nil {
			t.Error(err)
		} else if err := client.DeleteTable(context.Background(), table.Name); err != nil {
			t.Error(err)
		}
	}
}

var (
	namedLine = regexp.MustCompile(`(?m)^  (steady|moving|third): \{`) // a table or an index
	namesLine = regexp.MustCompile(`\b(topic|table|index): (steady|moving|third)\b`)
)

// rename makes a configuration derived from lines use the test's names.
func (g ground) rename(text string) string {
	text = namedLine.ReplaceAllString(text, "  "+g.prefix+"$1: {")
	text = namesLine.ReplaceAllString(text, "$1: "+g.prefix+"$2")
	return strings.Replace(text, "group: brine,", "group: "+g.prefix+"brine,", 1)
}
