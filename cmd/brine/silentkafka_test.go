package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	brokers "brine/ingest/embedded"

	"brine/internal/testenv"
)

// silentKafka is a Kafka that falls silent, to everybody, at the first request other than for the list of topics.
func silentKafka(t *testing.T) string {
	t.Helper()
	kafka, err := brokers.Start(kfake.NumBrokers(1), kfake.SeedTopics(1, scansExample.topic, scansExample.topic+".dead"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	for _, key := range []kmsg.Key{kmsg.ListOffsets, kmsg.OffsetFetch} {
		kafka.ControlKey(key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			<-ended
			return nil, nil, false
		})
	}
	return kafka.ListenAddrs()[0]
}

// TestKafkaThatFailsIsWarnedOf: from the third try on, a command that waits for brokers names them and what fails.
func TestKafkaThatFailsIsWarnedOf(t *testing.T) {
	t.Parallel()
	socket, nobody, err := bound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	const file = "../../examples/scans.yaml"
	for name, c := range map[string]struct {
		kafka func(*testing.T) string
		cause string
		args  []string
	}{
		"offsets show":       {silentKafka, "no answer in time", []string{"offsets", "show", "-c", file}},
		"offsets set":        {silentKafka, "no answer in time", []string{"offsets", "set", "-c", file, "--to", "latest"}},
		"deadletters ls":     {silentKafka, "no answer in time", []string{"deadletters", "ls", "-c", file}},
		"deadletters show":   {silentKafka, "no answer in time", []string{"deadletters", "show", "-c", file, "0:1"}},
		"deadletters replay": {silentKafka, "no answer in time", []string{"deadletters", "replay", "-c", file}},
		"check":              {silentKafka, "no answer in time", []string{"check", "--connect", file}},
		"refused":            {func(*testing.T) string { return nobody }, "connection refused", []string{"deadletters", "ls", "-c", file}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := map[string]string{"BRINE_KAFKA_BROKERS": c.kafka(t), "BRINE_KAFKA_REQUEST_TIMEOUT": "10m", "BRINE_HBASE_CONNECT": "embedded:" + t.TempDir()}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stderr testenv.Text
			ended := make(chan int, 1)
			go func() {
				ended <- run(&env{ctx: ctx, stdout: &stderr, stderr: &stderr, getenv: func(name string) (string, bool) {
					value, ok := settings[name]
					return value, ok
				}}, append(c.args, "--timeout", "10m"))
			}()
			said := func() bool {
				for line := range strings.Lines(stderr.String()) {
					if strings.Contains(line, `level=WARN msg="Kafka keeps failing" broker=`+settings["BRINE_KAFKA_BROKERS"]+" tries=3 ") && strings.Contains(line, c.cause) {
						return true
					}
				}
				return false
			}
			for !said() {
				select {
				case code := <-ended:
					t.Fatalf("exit %d without a warning\n%s", code, stderr.String())
				case <-time.After(20 * time.Millisecond):
				}
			}
			cancel()
			<-ended
		})
	}
}
