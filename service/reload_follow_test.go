package service_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"brine/event"
	"brine/service"
	"brine/service/brokers"
	"brine/service/reload"
	"brine/service/verifications"
	"brine/verify"
)

// TestFollowerProvesPastReloads reloads a filter twice, and then back, under a verification that follows. It goes on proving without a
// restart, and judges the records from each reload on by the filter that reads them: it finds nothing wrong, and knows every filter.
func TestFollowerProvesPastReloads(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.storedAll()
	r.publish("moving", 0, 40)
	r.settled("moving.rows", 40)
	r.settled("moving.documents", 40)

	cfg, ctx := r.Config(), t.Context()
	client := brokers.Open(&cfg.Kafka)
	defer client.Close()
	halves, err := verifications.Halves(cfg, "moving", "")
	if err != nil {
		t.Fatal(err)
	}
	groups, err := brokers.Groups(ctx, client, cfg, halves, "")
	if err != nil {
		t.Fatal(err)
	}
	asked := verifications.Asked{Temp: t.TempDir()}
	if err := asked.Check(time.Now()); err != nil {
		t.Fatal(err)
	}
	v, err := verifications.Open(ctx, cfg, asked, client, groups, service.Options{Log: slog.New(slog.DiscardHandler), Stores: r.Service})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Service.Close()
	started := make(chan struct{})
	var proved atomic.Pointer[time.Time]
	leftOut := map[string]int64{} // touched by the follower until it has ended
	f := verify.Follower{
		Options: v.Options, Every: 50 * time.Millisecond, Committed: v.Round,
		Started: func() { close(started) }, Work: func(work func()) { work() },
		Verified: func(report *verify.Report) {
			if report == nil {
				return
			}
			for _, s := range report.Sources {
				if s.Unknown > 0 {
					t.Errorf("%s: %d offsets are of an unknown filter", s.Name, s.Unknown)
				}
				for _, n := range s.LeftOut {
					leftOut[s.Name] += n
				}
			}
			if report.Problems() > 0 {
				t.Errorf("found %+v", report)
			}
		},
		Proved: func(through time.Time) { proved.Store(&through) },
		Failed: func(err error) { t.Errorf("a round failed: %v", err) },
	}
	stopping, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- f.Run(stopping) }()
	<-started
	sent := 40
	goesOn := func(what string) {
		t.Helper()
		r.publish("moving", sent, 40)
		sent += 40
		r.settled("moving.rows", int64(sent))
		r.settled("moving.documents", int64(sent))
		at := time.Now()
		r.wait("proved past "+what, func() bool {
			through := proved.Load()
			return through != nil && through.After(at)
		})
	}
	goesOn("the start")
	r.reload(thirds(lines), reload.Applied)
	goesOn("a filter")
	r.reload(filtered("n % 2 == 0"), reload.Applied)
	goesOn("another filter")
	r.reload(lines, reload.Applied)
	goesOn("the first configuration again")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, half := range []string{"moving.rows", "moving.documents"} {
		if got := leftOut[half]; got != 27+20 { // of 80 to 119, all but 13 thirds; of 120 to 159, the odd ones
			t.Errorf("%s: %d records were left out by the filters, want %d", half, got, 27+20)
		}
	}
}

// TestRepairsPastReloadsCloseWhatTheyReplace repairs under a verification that follows, past reloads. It holds one writer for each
// configuration that a half has had, however often the notes change, and keeps those that nothing has changed.
func TestRepairsPastReloadsCloseWhatTheyReplace(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.storedAll()
	r.publish("moving", 0, 40)
	r.settled("moving.rows", 40)
	r.settled("moving.documents", 40)
	cfg, ctx := r.Config(), t.Context()
	client := brokers.Open(&cfg.Kafka)
	defer client.Close()
	halves, err := verifications.Halves(cfg, "moving", "")
	if err != nil {
		t.Fatal(err)
	}
	groups, err := brokers.Groups(ctx, client, cfg, halves, "")
	if err != nil {
		t.Fatal(err)
	}
	var asked verifications.Asked
	if err := asked.Check(time.Now()); err != nil {
		t.Fatal(err)
	}
	v, err := verifications.Open(ctx, cfg, asked, client, groups, service.Options{Log: slog.New(slog.DiscardHandler), Stores: r.Service})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Service.Close()
	writers := func() []event.Writer {
		t.Helper()
		if _, _, err := v.Round(ctx); err != nil {
			t.Fatal(err)
		}
		w, err := v.Writers(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(w)
	}
	writers()
	said := 0
	say := func() { v.Say(func(string, ...any) { said++ }) }
	sent := 40
	for i, text := range []string{thirds(lines), filtered("n % 2 == 0"), filtered("n % 5 == 0")} {
		r.reload(text, reload.Applied)
		r.publish("moving", sent, 40)
		sent += 40
		r.settled("moving.rows", int64(sent))
		r.settled("moving.documents", int64(sent))
		before := writers()
		if n, most := v.Service.Formers(), 2*(i+2); n == 0 || n > most {
			t.Errorf("after %d reloads there are %d writers of earlier configurations, want at most %d", i+1, n, most)
		}
		if again := writers(); again[0] != before[0] || again[1] != before[1] {
			t.Errorf("after %d reloads, a round without any opened writers again", i+1)
		}
		r.wait("said that both groups are read by another configuration", func() bool { writers(); say(); return said >= 2*(i+1) })
		writers()
		say()
		if said != 2*(i+1) {
			t.Errorf("after %d reloads of two halves, said %d times that another configuration reads", i+1, said)
		}
	}
}
