package main

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestReindexKilledBesideTheLivePipeline kills brine reindex again and again while a live brine writes. The index that replaces the old one
// holds what a calm run makes, and verify finds nothing.
func TestReindexKilledBesideTheLivePipeline(t *testing.T) {
	notShort(t)
	t.Parallel()
	changes := orderChanges()
	want := undisturbedChanges(t)
	for _, s := range orderStacks[1:] { // an embedded index has only one process
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, s.start(t), ordersExample)
			part := len(changes) / 6
			j.publish(first(slices.Values(changes), 2*part))
			live := j.begin()
			live.until("orders.documents", 2*part)
			reindex := []string{"reindex", j.name, "-q", "-c", j.file, "--from", "hbase", "--rate", "400", "--drop-old"}
			for kill := range 3 {
				j.publish(first(slices.Values(changes), (3+kill)*part))
				cmd := j.command(reindex...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				wait(t, time.Duration(500+rand.IntN(6000))*time.Millisecond)
				if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
					t.Log(err) // it has already ended
				}
				_ = cmd.Wait() // it was killed
			}
			published := make(chan struct{})
			go func() { // while the last one runs
				defer close(published)
				wait(t, time.Second)
				j.publish(slices.Values(changes))
			}()
			t.Log(j.must(reindex...))
			<-published
			live.until("orders.documents", len(changes))
			live.until("orders.rows", len(changes))
			live.stop()
			j.expect(want)
			t.Log(j.must("verify", "-q", "-c", j.file, "--full"))
		})
	}
}
