package service_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/ingest"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
	"brine/verify"
)

// TestRandomReloadsUnderLoad changes everything but the meaning of pipelines, again and again, while records arrive. Afterwards rows and
// documents must be what an undisturbed run would have made, cell for cell, according to verify --full, and halves that no change concerned
// must never have stopped. BRINE_RELOADS=1000 sets the number of reloads.
func TestRandomReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	reloadsUnderLoad(t, startLines(t, lines), reloads, true)
}

// TestRandomReloadsUnderLoadOnRealServers does the same on a real Kafka, HBase and Elasticsearch.
func TestRandomReloadsUnderLoadOnRealServers(t *testing.T) {
	t.Parallel()
	reloadsUnderLoad(t, startOn(t, realGround(t), lines, service.Options{}), max(reloads, 50), false)
}

func reloadsUnderLoad(t *testing.T, r *reloadable, reloads int, oneWay bool) {
	steady, was := r.Half("steady.rows"), r.rebalances("steady.rows")
	random := rand.New(rand.NewPCG(7, 7))
	late := &lateness{status: func() (of ingest.Status) { of, _ = r.Half("steady.rows").Running(); return of }}
	done := make(chan struct{})
	var publishing sync.WaitGroup
	// The embedded index takes longer the more it holds, and each reload waits for what it has: so the more reloads, the fewer records.
	published, burst := 0, max(20, min(200, 40_000/max(1, reloads)))
	publishing.Go(func() {
		for {
			for _, topic := range []string{"moving", "third", "steady"} {
				if err := r.send(topic, published, burst); err != nil {
					t.Error(err)
					return
				}
			}
			published += burst
			late.sent(published)
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond): // limits the load
			}
		}
	})
	publishing.Go(func() { late.watch(done) })
	concerned, before := 0, randomFile{text: lines, protocol: "classic"}
	for i := range reloads {
		if i%10 == 0 { // for comparison
			late.during("nothing")
			select {
			case <-time.After(300 * time.Millisecond):
			case <-t.Context().Done():
			}
		}
		file := newRandomFile(random, before, oneWay)
		r.write(file.text)
		switch {
		case before.kafka != file.kafka:
			late.during("reload of all")
		case before.table != file.table:
			late.during("reload of its table")
		default:
			late.during("reload")
		}
		result, err := r.Reload(t.Context(), service.Reloading{By: "the test"})
		if err != nil {
			t.Fatalf("%+v\n%v\n%s", result, err, file.text)
		}
		if before.kafka != file.kafka {
			r.wait("steady.rows has its partitions again", func() bool {
				of := late.status()
				return of.Joined && len(of.Partitions) == devstack.Partitions
			})
			steady, was = r.Half("steady.rows"), r.rebalances("steady.rows")
		} else if concerned++; r.Half("steady.rows") != steady || r.rebalances("steady.rows") > was {
			t.Fatalf("a pipeline that nothing concerns was stopped: %v rebalances, before %v\n%s", r.rebalances("steady.rows"), was, file.text)
		}
		before = file
	}
	close(done)
	publishing.Wait()
	last := before.protocol
	if !oneWay {
		last = "classic"
	}
	r.write(strings.Replace(lines+thirdLine, "group: brine,", "group: brine, group_protocol: "+last+",", 1))
	if _, err := r.Reload(t.Context(), service.Reloading{By: "the test"}); err != nil {
		t.Fatal(err)
	}
	// A half's lag may be zero because it has not heard of the newest records.
	lookUps := brokers.Offsets{Client: brokers.Open(&r.Config().Kafka)}
	defer lookUps.Close()
	if err := r.UntilEnd(t.Context(), lookUps); err != nil {
		t.Fatal(err)
	}
	if n := len(r.Status()); n != 4 {
		t.Errorf("%d halves run, want 4", n)
	}
	for _, table := range []string{"steady", "moving", "third"} {
		if n := r.rows(table); n != published {
			t.Errorf("table %s has %d rows of %d records", table, n, published)
		}
	}
	r.verifyFull("steady", "moving", "third")
	t.Logf("%d reloads, %d of which did not concern the pipeline steady; %d records of each pipeline", reloads, concerned, published)
	late.report(t)
}

// lateness measures how late the records of a pipeline are durable while something happens: from when the broker had them until the
// watermark has passed them.
type lateness struct {
	status func() ingest.Status

	mu      sync.Mutex
	pending []sending
	what    string
	worst   map[string][]time.Duration // of each time that it happened
}

// sending is how many records had been published by a time.
type sending struct {
	records int
	at      time.Time
}

func (l *lateness) sent(records int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, sending{records, time.Now()})
}

func (l *lateness) during(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.worst == nil {
		l.worst = map[string][]time.Duration{}
	}
	l.what, l.worst[what] = what, append(l.worst[what], 0)
}

func (l *lateness) watch(done <-chan struct{}) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		passed := int64(0)
		for _, p := range l.status().Partitions {
			passed += max(p.Watermark, 0)
		}
		l.mu.Lock()
		for len(l.pending) > 0 && int64(l.pending[0].records) <= passed {
			l.pending = l.pending[1:]
		}
		if each := l.worst[l.what]; len(l.pending) > 0 && len(each) > 0 {
			each[len(each)-1] = max(each[len(each)-1], time.Since(l.pending[0].at))
		}
		l.mu.Unlock()
	}
}

// report logs the worst of all times. It fails if reloads that do not concern the pipeline make its records later by more than 100 ms than
// they are without; only if BRINE_RELOADS asks for that, as tests run side by side.
func (l *lateness) report(t *testing.T) {
	const line = "%-19s %5d times: the oldest record is late by %v in half of them, %v in 95 %%, %v at worst"
	worst := map[string]time.Duration{}
	for _, what := range []string{"nothing", "reload", "reload of its table", "reload of all"} {
		d := l.worst[what]
		if len(d) == 0 {
			continue
		}
		slices.Sort(d)
		at := func(share int) time.Duration { return d[min(len(d)-1, len(d)*share/100)].Round(time.Millisecond) }
		worst[what] = at(100)
		t.Logf(line, what, len(d), at(50), at(95), at(100))
	}
	alone := max(worst["reload"], worst["reload of its table"])
	if _, asked := os.LookupEnv("BRINE_RELOADS"); asked && alone > worst["nothing"]+100*time.Millisecond {
		t.Errorf("a pipeline that reloads leave alone is late by up to %v, and by %v without them", alone, worst["nothing"])
	}
}

// randomFile is a configuration that writes what lines writes.
type randomFile struct {
	text, kafka string
	protocol    string // of the groups
	table       string // settings of the table steady
}

// newRandomFile returns lines with random values of what a reload may change without changing what is written. One of ten has other
// settings under kafka than before, which concern all pipelines. The others leave the pipeline steady alone; one of four of them changes
// its table, whose regions HBase then opens again. With oneWay, no group goes back to the classic protocol: the embedded brokers do not take
// the commits of its members in a group that has had others.
func newRandomFile(random *rand.Rand, before randomFile, oneWay bool) randomFile {
	kafka, protocol, table := before.kafka, before.protocol, before.table
	if random.IntN(4) == 0 {
		table = randomTable(random)
	}
	if random.IntN(10) == 0 {
		protocols := []string{"classic", "consumer", "auto"}
		if oneWay && protocol != "classic" {
			protocols = protocols[1:]
		}
		protocol = pick(random, protocols...)
		kafka = "group_protocol: " + protocol + ", " + some(random, ", ",
			fmt.Sprintf("max_fetch_bytes: %dKiB", 64+random.IntN(1000)),
			fmt.Sprintf("topic_refresh: %ds", 1+random.IntN(60)),
			fmt.Sprintf("out_of_range: %s", pick(random, "stop", "earliest")),
			fmt.Sprintf("session_timeout: %ds", 10+random.IntN(50)),
			fmt.Sprintf("rebalance_timeout: %ds", 20+random.IntN(50)))
	}
	of := lines
	if random.IntN(2) == 0 {
		of += strings.Replace(thirdLine, "topic: third\n", "topic: third\n"+randomSettings(random, "third"), 1)
	}
	text := strings.NewReplacer(
		"stop_timeout: 1m }", strings.TrimSuffix("stop_timeout: 1m, "+kafka, ", ")+" }",
		"memory: 96MiB\n", "memory: 96MiB\n"+pick(random, "", fmt.Sprintf("http: { stall: %ds }\n", 30+random.IntN(60))),
		"steady: { row: entity,", "steady: { row: entity, "+table,
		"moving: { row: entity,", "moving: { row: entity, "+randomTable(random),
		"topic: moving\n", "topic: moving\n"+randomSettings(random, "moving"),
	).Replace(of)
	return randomFile{text, kafka, protocol, table}
}

// randomTable returns settings of a table.
func randomTable(random *rand.Rand) string {
	settings := some(random, ", ",
		fmt.Sprintf("regions: %d", 1+random.IntN(32)),
		fmt.Sprintf("max_filesize: %dGiB", 1+random.IntN(20)),
		fmt.Sprintf("memstore_flushsize: %dMiB", 1+random.IntN(200)),
		"queries: [id]")
	if settings != "" {
		settings += ","
	}
	return settings
}

// randomSettings returns settings of a pipeline that do not change what it writes.
func randomSettings(random *rand.Rand, name string) string {
	section := func(name string, settings ...string) string {
		return "    " + name + ": { " + some(random, ", ", settings...) + " }\n"
	}
	return section("read",
		fmt.Sprintf("window: %d", 1+random.IntN(16)),
		fmt.Sprintf("max_batch_records: %d", 1+random.IntN(2000)),
		fmt.Sprintf("max_batch_bytes: %dKiB", 1+random.IntN(2000)),
		fmt.Sprintf("max_pause: %ds", 1+random.IntN(20)),
		fmt.Sprintf("halt_pause: %ds", 1+random.IntN(30)),
		fmt.Sprintf("rate: %d", 100_000+random.IntN(100_000))) +
		section("write",
			fmt.Sprintf("autoflush: %v", random.IntN(2) == 0),
			fmt.Sprintf("linger: %dms", 1+random.IntN(20)),
			fmt.Sprintf("write_buffer: %dKiB", 64+random.IntN(4000)),
			fmt.Sprintf("retries: %d", 1+random.IntN(30)),
			fmt.Sprintf("pause: %dms", 1+random.IntN(200)),
			fmt.Sprintf("durability: %s", pick(random, "table", "fsync_wal"))) +
		some(random, "",
			fmt.Sprintf("    halt_after_rejects: %d\n", 10+random.IntN(100)),
			fmt.Sprintf("    gives_way: %s\n", pick(random, "documents", "rows", "nobody")),
			fmt.Sprintf("    dead_letters: %s.dead.%d\n", name, random.IntN(2)),
			"    hot_fields: [id]\n",
			"    mask: [n]\n")
}

// some returns a random selection of settings.
func some(random *rand.Rand, between string, of ...string) string {
	return strings.Join(slices.DeleteFunc(of, func(string) bool { return random.IntN(2) == 0 }), between)
}

func pick(random *rand.Rand, of ...string) string { return of[random.IntN(len(of))] }

// verifyFull compares all rows of the tables, and documents, with all records.
func (r *reloadable) verifyFull(tables ...string) {
	r.t.Helper()
	cfg := r.Config()
	o := verify.Options{Full: true, Dir: r.t.TempDir(), Workers: 2}
	for _, h := range cfg.Halves() {
		o.Sources = append(o.Sources, service.VerifySource(cfg, h, slog.New(slog.DiscardHandler), r.Client))
	}
	for _, table := range tables {
		o.Tables = append(o.Tables, verify.Table{Name: r.on.prefix + table, Store: verify.HBase(r.Client(), r.on.prefix+table)})
	}
	o.Tables = append(o.Tables, verify.Table{Name: r.on.prefix + "moving", Store: verify.Index(r.Engine(), r.on.prefix+"moving", nil), Documents: true, Whole: true})
	check, err := verify.New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	defer check.Close()
	report, err := check.Run(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	if report.Problems() > 0 {
		r.t.Errorf("verify --full finds %d problems: %+v", report.Problems(), report)
	}
}

var reloads = func() int {
	if n, err := strconv.Atoi(os.Getenv("BRINE_RELOADS")); err == nil {
		return n
	}
	return 30
}()
