package service_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/service"
	"brine/service/brokers"
	"brine/verify"
)

// TestRandomReloadsUnderLoad changes everything but the meaning of pipelines, again and again, while records arrive. Afterwards rows and
// documents must be what an undisturbed run would have made, cell for cell, according to verify --full, and halves that no change concerned
// must never have stopped. BRINE_RELOADS=1000 sets the number of reloads.
func TestRandomReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	reloadsUnderLoad(t, startLines(t, lines), reloads)
}

// TestRandomReloadsUnderLoadOnRealServers does the same on a real Kafka, HBase and Elasticsearch.
func TestRandomReloadsUnderLoadOnRealServers(t *testing.T) {
	t.Parallel()
	reloadsUnderLoad(t, startOn(t, realGround(t), lines, service.Options{}), max(reloads, 50))
}

func reloadsUnderLoad(t *testing.T, r *reloadable, reloads int) {
	steady, was := r.Half("steady.rows"), r.rebalances("steady.rows")
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	done := make(chan struct{})
	var publishing sync.WaitGroup
	published := 0
	publishing.Go(func() {
		for {
			for _, topic := range []string{"moving", "third", "steady"} {
				if err := r.send(topic, published, 200); err != nil {
					t.Error(err)
					return
				}
			}
			published += 200
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond): // limits the load
			}
		}
	})
	for range reloads {
		text := strings.Replace(lines, "topic: moving\n", "topic: moving\n"+randomSettings(random), 1)
		if random.IntN(2) == 0 {
			text += strings.Replace(thirdLine, "topic: third\n", "topic: third\n"+randomSettings(random), 1)
		}
		r.write(text)
		if result, err := r.Reload(t.Context(), service.Reloading{By: "the test"}); err != nil {
			t.Fatalf("%+v\n%v\n%s", result, err, text)
		}
	}
	close(done)
	publishing.Wait()
	r.write(lines + thirdLine)
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
	if r.Half("steady.rows") != steady || r.rebalances("steady.rows") != was {
		t.Errorf("a pipeline that nothing concerns was stopped: %v rebalances, before %v", r.rebalances("steady.rows"), was)
	}
	r.verifyFull("steady", "moving", "third")
	t.Logf("%d reloads, %d records of each pipeline", reloads, published)
}

// randomSettings returns settings of a pipeline that do not change what it writes.
func randomSettings(random *rand.Rand) string {
	return fmt.Sprintf("    read: { window: %d, max_batch_records: %d, max_pause: %ds }\n    write: { autoflush: %v, linger: %dms }\n    halt_after_rejects: %d\n",
		1+random.IntN(16), 1+random.IntN(2000), 1+random.IntN(20), random.IntN(2) == 0, 1+random.IntN(20), 10+random.IntN(100))
}

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
