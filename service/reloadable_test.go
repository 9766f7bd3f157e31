package service_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/hbase"
	"brine/ingest/control"
	"brine/internal/testenv"
	"brine/publish"
	"brine/service"
	"brine/service/devstack"
	"brine/service/reload"
)

// lines is a configuration of two pipelines of records with id, at and n, with room for a third.
const lines = `
kafka: { brokers: ["x:1"], group: brine, commit_interval: 50ms, stop_timeout: 1m }
hbase: { connect: "rpc://x:1" }
search: { connect: "http://x:1" }
memory: 96MiB
tables:
  steady: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }
  moving: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }
  third: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }
indexes:
  moving: { fields: { id: keyword, n: long } }
pipelines:
  steady:
    topic: steady
    fields: { id: text, at: time_ms, n: int }
    version: at
    rows: [ { table: steady, set: { "e:n": n } } ]
  moving:
    topic: moving
    fields: { id: text, at: time_ms, n: int }
    version: at
    rows: [ { table: moving, set: { "e:n": n } } ]
    documents: [ { index: moving, set: { id: id, n: n } } ]
`

const thirdLine = `  third:
    topic: third
    fields: { id: text, at: time_ms, n: int }
    version: at
    rows: [ { table: third, set: { "e:n": n } } ]
`

// reloadable is a running service whose configuration is a text.
type reloadable struct {
	*running
	on  ground
	log *testenv.Text

	mu   sync.Mutex
	text string
	file string // if set, read instead of text
}

// startLines runs lines with or without the third pipeline, or only some halves.
func startLines(t *testing.T, text string, halves ...string) *reloadable {
	t.Helper()
	return startWith(t, text, service.Options{Halves: halves})
}

func startWith(t *testing.T, text string, o service.Options) *reloadable {
	t.Helper()
	return startOn(t, embeddedGround(t), text, o)
}

// createControl creates the control topic before the members do: kfake raises the epoch of every group when a topic is created, and tests
// compare epochs.
func createControl(t *testing.T, cfg *config.Config) error {
	topic := control.Open(control.Options{Kafka: cfg.Kafka.Options(), Topic: cfg.Kafka.Control(), Logger: slog.New(slog.DiscardHandler)})
	defer topic.Close()
	return topic.Report(t.Context(), []control.Member{{Group: "none", ID: "none"}}, nil)
}

func startOn(t *testing.T, on ground, text string, o service.Options) *reloadable {
	t.Helper()
	r := &reloadable{on: on, text: lines + thirdLine, log: &testenv.Text{}}
	whole, _, err := r.source()
	if err == nil {
		err = on.prepare(t.Context(), whole)
	}
	if err == nil {
		err = createControl(t, whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.text = text
	cfg, _, err := r.source()
	if err != nil {
		t.Fatal(err)
	}
	o.For, o.Log, o.Source = service.ToRun, slog.New(slog.NewTextHandler(r.log, nil)), r.source
	s, err := service.Open(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.running = &running{s, t, cancel, make(chan error, 1)}
	go func() { r.ended <- s.Run(ctx) }()
	t.Cleanup(r.stop)
	for _, h := range cfg.Halves() {
		if o.Halves == nil || slices.Contains(o.Halves, h.Name()) {
			r.joined(h.Name())
		}
	}
	return r
}

// joined waits until a half is a member of its group.
func (r *reloadable) joined(half string) {
	r.t.Helper()
	r.wait(half+" is a member", func() bool {
		h := r.Half(half)
		if h == nil {
			return false
		}
		status, _ := h.Running()
		return status.Joined
	})
}

func (r *reloadable) wait(what string, so func() bool) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("not within two minutes: %s; %+v", what, r.Status())
		}
	}
}

func (r *reloadable) source() (*config.Config, config.Problems, error) {
	r.mu.Lock()
	text, file := r.text, r.file
	r.mu.Unlock()
	if file != "" {
		cfg, problems := config.Load(file, r.on.getenv)
		return cfg, problems, problems.Err()
	}
	cfg, problems := config.Parse("lines.yaml", []byte(r.on.rename(text)), r.on.getenv)
	return cfg, problems, problems.Err()
}

func (r *reloadable) write(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = text
}

// reload writes a configuration, reloads it, and checks the outcome.
func (r *reloadable) reload(text string, want reload.Outcome) *reload.Result {
	r.t.Helper()
	r.write(text)
	result, err := r.Reload(r.t.Context(), service.Reloading{By: "the test"})
	if result == nil || result.Outcome != want {
		r.t.Fatalf("reload: %+v, %v; want %s", result, err, want)
	}
	return result
}

// publish sends records from, from+1, … to a topic.
func (r *reloadable) publish(topic string, from, n int) {
	r.t.Helper()
	if err := r.send(topic, from, n); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reloadable) send(topic string, from, n int) error {
	k := &r.Config().Kafka
	sender := publish.NewSender(k.Options(), k.RequestTimeout)
	defer sender.Close()
	byPartition := map[int][]publish.Record{}
	for i := from; i < from+n; i++ {
		value := fmt.Sprintf(`{"id":"K%07d","at":%d,"n":%d}`, i, 1700000000000+int64(i), i)
		byPartition[i%devstack.Partitions] = append(byPartition[i%devstack.Partitions], publish.Record{Key: fmt.Appendf(nil, "K%d", i), Value: []byte(value)})
	}
	for p, records := range byPartition {
		if _, err := sender.Send(r.t.Context(), r.on.prefix+topic, p, records, "", nil); err != nil {
			return err
		}
	}
	return nil
}

// configure sets settings of a topic.
func (r *reloadable) configure(topic string, settings map[string]string) {
	r.t.Helper()
	asked := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}
	for name, value := range settings {
		asked.Configs = append(asked.Configs, kafka.IncrementalAlterConfigsRequestConfig{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
	}
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(r.Config().Kafka.Brokers...), Transport: transport}
	answer, err := client.IncrementalAlterConfigs(r.t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{asked}})
	if err == nil {
		err = answer.Resources[0].Error
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// settled waits until a half has settled n records in all.
func (r *reloadable) settled(half string, n int64) {
	r.t.Helper()
	r.wait(fmt.Sprintf("%s has settled %d", half, n), func() bool {
		h := r.Half(half)
		return h != nil && h.Counts().Settled >= n
	})
	if got := r.Half(half).Counts().Settled; got != n {
		r.t.Errorf("%s has settled %d records, want %d", half, got, n)
	}
}

// rows returns the number of rows in a table.
func (r *reloadable) rows(table string) (n int) {
	r.t.Helper()
	for _, err := range r.Client().Scan(r.t.Context(), r.on.prefix+table, hbase.Scan{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		n++
	}
	return n
}

// rebalances returns how often a half has joined a generation of its group.
func (r *reloadable) rebalances(half string) float64 {
	return r.metric("brine_ingest_rebalances_total", half)
}

// metric returns the value of a half's counter or gauge.
func (r *reloadable) metric(metric, half string) (n float64) {
	families, err := r.Registry().Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	name, kind, _ := strings.Cut(half, ".")
	for _, f := range families {
		if f.GetName() != metric {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["pipeline"] == name && labels["half"] == kind {
				n += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return n
}

// marked checks that the control topic has the offsets at which a filter takes effect.
func (r *reloadable) marked(result *reload.Result) {
	r.t.Helper()
	k := &r.Config().Kafka
	topic := control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control()})
	defer topic.Close()
	marks, kept, err := topic.Marks(r.t.Context())
	if err != nil || len(marks) != len(result.Onward) {
		r.t.Fatalf("%d marks of %d: %v", len(marks), len(result.Onward), err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(kept, func(c control.Configuration) bool { return c.Name == name && c.Pipeline == "moving" })
	}
	if !has(marks[0].Was) || !has(marks[0].Is) {
		r.t.Errorf("kept %+v, of %+v", kept, marks[0])
	}
	for i, at := range result.Onward { // in the same order, because group names end with the half's name
		m := marks[i]
		if m.Group != "brine."+at.Half || m.Topic != at.Topic || m.Partition != at.Partition || m.Offset != at.Offset || m.By != result.By ||
			m.Before != result.Before || m.After != result.After || strings.Join(m.Settings, "") != "pipelines.moving.when: - → n % 2 == 0" {
			r.t.Errorf("the mark of %+v is %+v", at, m)
		}
	}
}

// get returns the answer of a URL.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url) //nolint:noctx // the server is in this process
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
