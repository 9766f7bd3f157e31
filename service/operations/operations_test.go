package operations

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/account"
	"brine/config"
	"brine/examples"
	"brine/ingest"
	"brine/internal/sample"
	"brine/publish"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// bench is brine dev, with the operators' listener, and a client of it.
type bench struct {
	*client.Client
	t       *testing.T
	stack   *devstack.Stack
	cfg     *config.Config
	service *service.Service
	ops     *serve.Server
	base    context.Context
	run     func() // runs the pipelines until the test ends
}

// newBench starts brine dev's servers, for a purpose. With a planted secret it is the password of something that is not asked.
func newBench(t *testing.T, purpose service.Purpose, change func(*config.Config)) *bench {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	stack, err := devstack.Start(devstack.Options{Dir: t.TempDir(), HBaseNodes: 1, ScannerLease: time.Minute, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	cfg, problems := config.Parse("dev.yaml", examples.Dev, stack.Getenv)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if err := stack.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(cfg)
	}
	s, err := service.Open(t.Context(), cfg, service.Options{For: purpose, Log: log, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	o := New(s, log)
	o.hold = 0
	ops, err := s.OpsAPI(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	running.Go(func() {
		if err := ops.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	b := &bench{t: t, stack: stack, cfg: cfg, service: s, ops: ops, base: ctx}
	b.run = func() {
		running.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	if cfg.HasAccounts() {
		b.Client = b.as("operator", account.Operator)
	} else {
		b.Client = &client.Client{Base: ops.URL()}
	}
	return b
}

// as makes an account, and a client in its name.
func (b *bench) as(name string, role account.Role) *client.Client {
	b.t.Helper()
	accounts, err := b.service.Accounts(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	made, err := accounts.Add(b.t.Context(), name, "", role, "harbour violin teapot quilt")
	if err != nil {
		b.t.Fatal(err)
	}
	token, _, err := accounts.NewToken(b.t.Context(), made, "test", role, time.Now().Add(time.Hour))
	if err != nil {
		b.t.Fatal(err)
	}
	return &client.Client{Base: b.ops.URL(), HTTP: &http.Client{Transport: bearer(token)}}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// publish puts events into a topic, and waits until they are settled if pipelines run.
func (b *bench) publish(topic, key string, events iter.Seq[[]byte]) int {
	b.t.Helper()
	offsets := brokers.Offsets{Client: b.stack.Offsets()}
	defer offsets.Close()
	a := publish.Appender{Kafka: ingest.Kafka{Brokers: []string{b.stack.KafkaAddr()}}, RequestTimeout: time.Minute, Topic: topic,
		Ends: func(ctx context.Context) ([]int64, error) { return offsets.Ends(ctx, topic) }}
	n, err := a.Publish(b.t.Context(), publish.Keyed(func(yield func([]byte, error) bool) {
		for e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}, key))
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *bench) untilEnd() {
	b.t.Helper()
	offsets := brokers.Offsets{Client: b.stack.Offsets()}
	defer offsets.Close()
	if err := b.service.UntilEnd(b.t.Context(), offsets); err != nil {
		b.t.Fatal(err)
	}
}

func first(n int, events iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for e := range events {
			if n--; n < 0 || !yield(e) {
				return
			}
		}
	}
}

// TestPipelines: what is shown of pipelines that run here is what they have done, and the brokers' word of those that run nowhere.
func TestPipelines(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	n := b.publish("courier.scans", "waybill", first(2000, sample.Scans()))
	all, err := b.Pipelines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Pipelines) != 2 || all.Pipelines[0].Name != "scans" || len(all.Pipelines[1].Halves) != 2 {
		t.Fatalf("%+v", all)
	}
	b.run()
	b.untilEnd()
	p, err := b.Pipeline(t.Context(), "scans")
	if err != nil {
		t.Fatal(err)
	}
	if !p.Here || !slices.Equal(p.Topics, []string{"courier.scans"}) || !slices.Equal(p.Tables, []string{"logistics:scans"}) {
		t.Errorf("%+v", p)
	}
	half := p.Halves[0]
	latest := int64(0)
	for _, part := range half.Partitions {
		if latest += part.Latest; !part.Here || part.Watermark == nil || *part.Watermark != part.Latest || part.Lag != 0 || part.State != "running" {
			t.Errorf("%+v", part)
		}
	}
	if half.Name != "scans.rows" || half.State != "running" || half.Lag != 0 || latest != int64(n) || len(half.Partitions) != devstack.Partitions ||
		half.Counts == nil || half.Counts.Events != int64(n) || len(half.Members) != 1 || half.Regions != 16 {
		t.Errorf("after %d records: %+v", n, half)
	}
	if _, err := b.Pipeline(t.Context(), "none"); status(err) != http.StatusNotFound {
		t.Errorf("of no pipeline: %v", err)
	}
}

// TestPipelinesElsewhere: brine serve runs none, and shows what the brokers say of each. Without accounts nothing can be changed.
func TestPipelinesElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRead, func(c *config.Config) { c.Accounts = config.Accounts{} })
	n := b.publish("courier.scans", "waybill", first(100, sample.Scans()))
	p, err := b.Pipeline(t.Context(), "scans")
	if err != nil {
		t.Fatal(err)
	}
	if half := p.Halves[0]; p.Here || half.State != "stopped" || half.Lag != int64(n) || half.Counts != nil || len(half.Partitions) != devstack.Partitions {
		t.Errorf("%+v", p)
	}
	for _, path := range b.ops.Paths() {
		if path[:4] != "GET " {
			t.Errorf("without accounts there is %s", path)
		}
	}
}

func status(err error) int {
	if p, ok := err.(*client.Problem); ok {
		return p.Status
	}
	return 0
}

// TestRates: what grows is known a second later, over the last half minute, and begins again where a number has shrunk.
func TestRates(t *testing.T) {
	var r rates
	at := time.Unix(0, 0)
	for _, c := range []struct {
		second float64
		n      int64
		want   float64 // −1: not known
	}{{0, 100, -1}, {0.5, 150, -1}, {1, 200, 100}, {11, 1300, 1200.0 / 11}, {31, 1300, 1100.0 / 30}, {32, 5, -1}, {33, 7, 2}, {90, 7, -1}} {
		got := r.observe("k", c.n, at.Add(time.Duration(c.second*float64(time.Second))))
		if c.want < 0 != (got == nil) || got != nil && *got != c.want {
			t.Errorf("at %v s: %v, want %v", c.second, got, c.want)
		}
	}
}
