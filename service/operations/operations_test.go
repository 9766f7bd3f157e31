package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"brine/account"
	"brine/config"
	"brine/examples"
	"brine/internal/sample"
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

// bench is brine dev with the operators' listener, and a client of it.
type bench struct {
	*client.Client
	t          *testing.T
	stack      *devstack.Stack
	cfg        *config.Config
	service    *service.Service
	operations *Operations
	ops        *serve.Server
	base       context.Context
	run        func() // runs the pipelines until the test ends

	mu     sync.Mutex
	file   string // what Source reads
	broken error  // error of reading it
}

// source loads the configuration again, for a reload.
func (b *bench) source() (*config.Config, config.Problems, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, nil, b.broken
	}
	cfg, problems := config.Parse("dev.yaml", []byte(b.file), b.stack.Getenv)
	return cfg, problems, problems.Err()
}

func (b *bench) write(file string, broken error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.file, b.broken = file, broken
}

// newBench starts brine dev's servers for a purpose, with parts of its configuration replaced.
func newBench(t *testing.T, purpose service.Purpose, change func(*config.Config), replaced ...string) *bench {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	stack, err := devstack.Start(devstack.Options{Dir: t.TempDir(), HBaseNodes: 1, ScannerLease: time.Minute, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	b := &bench{t: t, stack: stack, file: strings.NewReplacer(replaced...).Replace(string(examples.Dev))}
	cfg, _, err := b.source()
	if err != nil {
		t.Fatal(err)
	}
	if err := stack.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(cfg)
	}
	s, err := service.Open(t.Context(), cfg, service.Options{For: purpose, Log: log, Version: "test", Source: b.source})
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
	b.cfg, b.service, b.operations, b.ops, b.base = cfg, s, o, ops, ctx
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

// as creates an account, and returns a client that uses it.
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

// publish writes events to a topic, with a field as their key.
func (b *bench) publish(topic, key string, events iter.Seq[[]byte]) (n int) {
	b.t.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.stack.KafkaAddr()))
	if err != nil {
		b.t.Fatal(err)
	}
	defer producer.Close()
	var records []*kgo.Record
	for e := range events {
		var fields map[string]any
		if err := json.Unmarshal(e, &fields); err != nil {
			b.t.Fatal(err)
		}
		records = append(records, &kgo.Record{Topic: topic, Key: fmt.Append(nil, fields[key]), Value: e})
	}
	if err := producer.ProduceSync(b.t.Context(), records...).FirstErr(); err != nil {
		b.t.Fatal(err)
	}
	return len(records)
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

// TestPipelines checks that pipelines that run here show what they have done, and others what the brokers know.
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
	reported := func() bool { return len(p.Halves[0].Versions) == 1 && p.Halves[0].Versions[0].Version == "test" }
	for end := time.Now().Add(time.Minute); !reported() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if p, err = b.Pipeline(t.Context(), "scans"); err != nil {
			t.Fatal(err)
		}
	}
	half := p.Halves[0]
	latest := int64(0)
	for _, part := range half.Partitions {
		if latest += part.Latest; !part.Here || part.Watermark == nil || *part.Watermark != part.Latest || part.Lag != 0 || part.State != "running" {
			t.Errorf("%+v", part)
		}
	}
	if half.Name != "scans.rows" || half.State != "running" || half.Lag != 0 || latest != int64(n) || len(half.Partitions) != devstack.Partitions ||
		half.Counts == nil || half.Counts.Events != int64(n) || len(half.Members) != 1 || !reported() || half.Regions != 16 {
		t.Errorf("after %d records: %+v", n, half)
	}
	if _, err := b.Pipeline(t.Context(), "none"); status(err) != http.StatusNotFound {
		t.Errorf("of no pipeline: %v", err)
	}
	b.checkTables(int64(n))
	b.checkDeadLetters(false)
	b.checkRefusals()
}

// checkTables compares what is shown of the table of scans with what was written to it.
func (b *bench) checkTables(rows int64) {
	t, ctx := b.t, b.t.Context()
	const scans = "logistics:scans"
	tables, err := b.StoredTables(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(tables.Tables) != 2 || tables.Tables[0].Name != scans || tables.Tables[0].Regions != 16 || tables.Tables[0].Servers != 1 ||
		!slices.Equal(tables.Tables[0].Pipelines, []string{"scans"}) || tables.Tables[0].Detail != "" {
		t.Errorf("%+v", tables)
	}
	regions, err := b.Regions(ctx, scans)
	if err != nil {
		t.Fatal(err)
	}
	if len(regions.Regions) != 16 || regions.Regions[0].Start != "" || regions.Regions[1].Start != "1000" || regions.Regions[15].End != "" || regions.Regions[1].Server == "" {
		t.Errorf("%+v", regions)
	}
	all, err := b.Skew(ctx, scans)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, r := range all.Tables[0].Regions {
		sum += r.Rows
	}
	if !all.Here || len(all.Tables) != 1 || all.Tables[0].Rows != rows || sum != rows || all.Tables[0].Total.MaxMean < 1 {
		t.Errorf("%d rows, and %+v", rows, all)
	}
	heat, err := b.HeatMap(ctx, scans, client.HeatMapOf{Minutes: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(heat.Starts) != 16 || len(heat.Rows) != 16 || len(heat.Times) == 0 || len(heat.Rows[0]) != len(heat.Times) || heat.Most <= 0 {
		t.Errorf("%+v", heat)
	}
	for _, of := range []client.HeatMapOf{{Metric: "latency"}, {Metric: "rows"}, {Metric: "bytes", Server: regions.Regions[0].Server}} {
		m, err := b.HeatMap(ctx, scans, of)
		cells := map[string][][]float64{"latency": m.Latency, "rows": m.Rows, "bytes": m.Bytes}
		if err != nil || m.Most <= 0 || len(cells[of.Metric]) != 16 || len(m.Rows)+len(m.Bytes)+len(m.Latency) != 16 {
			t.Errorf("%+v: %+v, %v", of, m, err)
		}
	}
	if m, err := b.HeatMap(ctx, scans, client.HeatMapOf{Server: "nowhere:1"}); err != nil || len(m.Starts)+len(m.Rows) != 0 {
		t.Errorf("of a server without regions: %+v, %v", m, err)
	}
	for _, path := range []string{"/tables/none/regions", "/tables/none/skew", "/tables/none/heat"} {
		if code := b.get(path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	for _, path := range []string{"/tables/" + scans + "/heat?minutes=x", "/tables/" + scans + "/heat?ranges=0", "/tables/" + scans + "/heat?columns=-3", "/tables/" + scans + "/heat?metric=reads",
		"/tables/" + scans + "/heat?columns=99999999999999999999", "/tables/" + scans + "/regions?x=1"} {
		if code := b.get(path); code != http.StatusBadRequest {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// get requests a path, and returns the status.
func (b *bench) get(path string) int {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.Base+"/api/v1/ops"+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	hc := b.HTTP
	if hc == nil {
		hc = http.DefaultClient
	}
	resp, err := hc.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

const planted = "planted-harbour"

// checkDeadLetters publishes scans without a time, and finds them among the dead letters.
func (b *bench) checkDeadLetters(masked bool) {
	t, ctx := b.t, b.t.Context()
	t.Helper()
	const n = 5
	b.publish("courier.scans", "waybill", func(yield func([]byte) bool) {
		for i := range n {
			if !yield(fmt.Appendf(nil, `{"waybill": "%s%d", "action": "DEPART", "station": "EWR"}`, planted, i)) {
				return
			}
		}
	})
	b.untilEnd()
	of := client.DeadLettersOf{Pipeline: "scans", Reasons: []string{"missing_field"}}
	var all []client.DeadLetter
	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		page, err := b.DeadLetters(ctx, of, next)
		if err != nil {
			t.Fatal(err)
		}
		all, next = append(all, page.DeadLetters...), page.Next
	}
	if len(all) != n {
		t.Fatalf("%d dead letters: %+v", len(all), all)
	}
	first := all[0]
	if first.Pipeline != "scans.rows" || first.Reason != "missing_field" || first.Field != "at" || first.Masked != masked || strings.HasPrefix(first.Key, planted) == masked {
		t.Errorf("%+v", first)
	}
	whole, err := b.DeadLetter(ctx, fmt.Sprintf("%d:%d", first.Partition, first.Offset), "")
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(whole)
	if len(whole.DeadLetters) != 1 || strings.Contains(text, planted) == masked || whole.DeadLetters[0].Fix == "" || !strings.Contains(text, "EWR") {
		t.Errorf("%s", text)
	}
	sums, err := b.DeadLetterSums(ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	if len(sums.Sums) != 1 || sums.Sums[0].Letters != n || sums.Sums[0].Field != "at" || sums.Sums[0].Pipeline != "scans.rows" {
		t.Errorf("%+v", sums)
	}
	for path, want := range map[string]int{"?pipeline=none": 404, "?reason=none": 400, "?half=none": 400, "?since=soon": 400, "?partition=x": 400, "?partition=99": 200,
		"?page_token=x": 400, "?page_token=other.dead:0:1": 400, "?key=%5Cx": 400, "?all=maybe": 400, "?page_size=0": 400, "/records/x": 400, "/records/0:999999": 404,
		"?until=1969-01-01": 200, "?page_size=2": 200, "/summary?half=documents": 200} {
		if code := b.get("/dead-letters" + path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if code := b.get("/dead-letters?text=EWR"); code != map[bool]int{true: 400, false: 200}[masked] {
		t.Errorf("by a text: %d", code)
	}
}

// checkRefusals sends requests that are refused while pipelines run.
func (b *bench) checkRefusals() {
	t, ctx := b.t, b.t.Context()
	dry, err := b.SetOffsets(ctx, client.SetOffsets{HalvesOf: client.HalvesOf{Pipeline: "scans"}, To: "earliest", DryRun: true})
	if err != nil || dry.Done || !strings.Contains(dry.InUse, "the group is in use") || len(dry.Moves) == 0 {
		t.Errorf("%+v, %v", dry, err)
	}
	for _, c := range []struct {
		to   client.SetOffsets
		want int
	}{
		{client.SetOffsets{To: "earliest", HalvesOf: client.HalvesOf{Pipeline: "scans"}}, 409}, {client.SetOffsets{To: "soon"}, 400}, {client.SetOffsets{}, 400},
		{client.SetOffsets{To: "file:/etc/passwd"}, 400}, {client.SetOffsets{To: "earliest", HalvesOf: client.HalvesOf{Pipeline: "none"}}, 404},
		{client.SetOffsets{To: "earliest", HalvesOf: client.HalvesOf{Half: "none"}}, 400}, {client.SetOffsets{To: "earliest", HalvesOf: client.HalvesOf{Topic: "none"}}, 400},
		{client.SetOffsets{To: "0:1", HalvesOf: client.HalvesOf{Pipeline: "scans"}, Partitions: []int{77}}, 404}, {client.SetOffsets{To: "77:1", HalvesOf: client.HalvesOf{Pipeline: "scans"}}, 404},
		{client.SetOffsets{To: "0:99999999", HalvesOf: client.HalvesOf{Pipeline: "scans"}}, 400},
	} {
		c.to.Yes = true
		if got, err := b.SetOffsets(ctx, c.to); status(err) != c.want || got.Done {
			t.Errorf("%+v: %v, want %d", c.to, err, c.want)
		}
	}
}

// TestMasked checks that no answer has anything masked, in the keys of regions, heavy keys or dead letters, nor a secret of the
// configuration.
func TestMasked(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil, "    topic: courier.scans\n", "    topic: courier.scans\n    mask: [waybill]\n",
		"memory: 48MiB", "memory: 48MiB\nhttp: { token: planted-token-of-the-port }")
	b.run()
	b.checkDeadLetters(true)
	b.publish("courier.scans", "waybill", func(yield func([]byte) bool) {
		for i := range 100 {
			if !yield(fmt.Appendf(nil, `{"waybill": "%s", "action": "DEPART", "station": "EWR", "at": %d}`, planted, 1700000000000+i)) {
				return
			}
		}
	})
	b.untilEnd()
	for _, path := range []string{"/pipelines", "/pipelines/scans", "/tables", "/tables/logistics:scans/regions", "/tables/logistics:scans/skew", "/skew",
		"/tables/logistics:scans/heat", "/dead-letters", "/dead-letters/summary", "/configuration", "/offsets"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Base+"/api/v1/ops"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := b.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || strings.Contains(string(body), "planted") {
			t.Errorf("%s: %d, %v\n%s", path, resp.StatusCode, err, body)
		}
		if path == "/tables/logistics:scans/regions" && strings.Contains(string(body), `"1000"`) {
			t.Errorf("keys of regions are shown: %s", body)
		}
	}
	shown, err := b.Configuration(t.Context())
	if err != nil || !strings.Contains(shown.YAML, "mask: [waybill]") || !strings.Contains(shown.YAML, "${BRINE_KAFKA_BROKERS}") {
		t.Errorf("%v\n%s", err, shown.YAML)
	}
}

// TestOffsetsAreSet checks that a group without members continues at the new offsets, and that the audit entry comes first.
func TestOffsetsAreSet(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRead, nil)
	n := b.publish("courier.scans", "waybill", first(100, sample.Scans()))
	to := client.SetOffsets{HalvesOf: client.HalvesOf{Pipeline: "scans", Half: "rows"}, To: "latest", DryRun: true}
	dry, err := b.SetOffsets(t.Context(), to)
	if err != nil || dry.Done || dry.InUse != "" {
		t.Fatalf("%+v, %v", dry, err)
	}
	to.DryRun = false
	if set, err := b.SetOffsets(t.Context(), to); status(err) != http.StatusPreconditionRequired || set.Done || !strings.Contains(err.Error(), "send its moves") {
		t.Errorf("set unseen: %+v, %v", set, err)
	}
	to.Yes = true
	set, err := b.SetOffsets(t.Context(), to)
	skipped := int64(0)
	for _, m := range set.Moves {
		skipped += m.Skipped
	}
	if err != nil || !set.Done || skipped != int64(n) {
		t.Fatalf("%+v, %v", set, err)
	}
	now, err := b.Offsets(t.Context(), to.HalvesOf)
	if err != nil || len(now.Positions) != devstack.Partitions {
		t.Fatalf("%+v, %v", now, err)
	}
	for _, p := range now.Positions {
		if p.Committed == nil || *p.Committed != p.Latest || p.Lag != 0 {
			t.Errorf("%+v", p)
		}
	}
	lookUps := b.stack.Offsets()
	defer lookUps.Close()
	notes, err := lookUps.Notes(t.Context(), now.Positions[0].Group)
	if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "moved") {
		t.Errorf("the commits note %q, %v, want that the offsets were set", notes, err)
	}
	entries := b.audited()
	if len(entries) != 1 || entries[0] != `offsets.set {"pipeline":"scans","half":"rows","to":"latest","yes":true}` {
		t.Errorf("%q", entries)
	}
	if again, err := b.SetOffsets(t.Context(), to); err != nil || again.Done || len(again.Moves) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	b.checkShownMoves(to.HalvesOf)
}

// checkShownMoves sets what dry runs have shown, whatever comes between.
func (b *bench) checkShownMoves(half client.HalvesOf) {
	t, ctx := b.t, b.t.Context()
	t.Helper()
	dry := func(to string) client.SetOffsets {
		t.Helper()
		shown, err := b.SetOffsets(ctx, client.SetOffsets{HalvesOf: half, To: to, DryRun: true})
		if err != nil || len(shown.Moves) == 0 {
			t.Fatalf("%s: %+v, %v", to, shown, err)
		}
		return client.SetOffsets{Moves: shown.Moves}
	}
	expect := func(want client.SetOffsets) {
		t.Helper()
		now, err := b.Offsets(ctx, half)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range want.Moves {
			if got := now.Positions[m.Partition].Committed; got == nil || *got != m.Then {
				t.Errorf("partition %d: %+v, want %d", m.Partition, now.Positions[m.Partition], m.Then)
			}
		}
	}
	back := dry("-5")
	for i := range 2 { // the answer to the first was lost
		if set, err := b.SetOffsets(ctx, back); err != nil || !set.Done || len(set.Moves) != len(back.Moves)*(1-i) {
			t.Fatalf("%+v, %v", set, err)
		}
		expect(back)
	}
	b.publish("courier.scans", "waybill", first(100, sample.Scans()))
	latest := dry("latest")
	b.publish("courier.scans", "waybill", first(100, sample.Scans()))
	if set, err := b.SetOffsets(ctx, latest); err != nil || !set.Done {
		t.Fatalf("%+v, %v", set, err)
	}
	expect(latest) // and not what came later
	_, err := b.SetOffsets(ctx, back)
	if m := back.Moves[0]; status(err) != http.StatusConflict ||
		!strings.Contains(err.Error(), fmt.Sprintf("partition %d: offset %d was committed, and now offset %d is", m.Partition, *m.Now, latest.Moves[0].Then)) {
		t.Errorf("what was shown before: %v", err)
	}
	strange := func(change func(*client.OffsetMove)) client.SetOffsets {
		m := dry("earliest").Moves[0]
		change(&m)
		return client.SetOffsets{Moves: []client.OffsetMove{m}}
	}
	for _, c := range []struct {
		to   client.SetOffsets
		want int
	}{
		{client.SetOffsets{HalvesOf: half, To: "+5"}, 428},
		{client.SetOffsets{HalvesOf: half, To: "+5", Yes: true}, 400},
		{client.SetOffsets{HalvesOf: half, Moves: latest.Moves}, 400},
		{client.SetOffsets{Moves: append(latest.Moves, latest.Moves[0])}, 400},
		{strange(func(m *client.OffsetMove) { m.Now = nil }), 409},
		{strange(func(m *client.OffsetMove) { m.Then = 1 << 40 }), 409},
		{strange(func(m *client.OffsetMove) { m.Partition = 77 }), 404},
		{strange(func(m *client.OffsetMove) { m.Topic = "none" }), 404},
	} {
		if got, err := b.SetOffsets(ctx, c.to); status(err) != c.want || got.Done {
			t.Errorf("%+v: %v, want %d", c.to, err, c.want)
		}
	}
	expect(latest)
}

// audited returns the operator's actions with their objects, oldest first.
func (b *bench) audited() (out []string) {
	b.t.Helper()
	accounts, err := b.service.Accounts(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	entries, err := accounts.Entries(b.t.Context(), 0, "operator", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range slices.Backward(entries) {
		out = append(out, e.Action+" "+e.Object)
	}
	return out
}

// TestPipelinesElsewhere checks that brine serve, which runs no pipelines, shows what the brokers know of each. Without accounts nothing
// can be changed.
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
	for _, route := range b.ops.Paths() {
		if method, path, _ := strings.Cut(route, " "); method != http.MethodGet && strings.HasPrefix(path, "/api/v1/ops/") {
			t.Errorf("without accounts there is %s", route)
		}
	}
}

func status(err error) int {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return p.Status
	}
	return 0
}

// TestRates checks that growth is known after a second, covers at most 30 s, and starts over when a number has shrunk.
func TestRates(t *testing.T) {
	var r rates
	at := time.Unix(0, 0)
	for _, c := range []struct {
		second float64
		n      int64
		want   float64 // −1: unknown
	}{{0, 100, -1}, {0.5, 150, -1}, {1, 200, 100}, {11, 1300, 1200.0 / 11}, {31, 1300, 1100.0 / 30}, {32, 5, -1}, {33, 7, 2}, {90, 7, -1}} {
		got := r.observe("k", c.n, at.Add(time.Duration(c.second*float64(time.Second))))
		if c.want < 0 != (got == nil) || got != nil && *got != c.want {
			t.Errorf("at %v s: %v, want %v", c.second, got, c.want)
		}
	}
}
