package simulate

import (
	"time"

	"brine/ingest"
)

// ofReload begins the names of the faults that change what processes are configured with while they work.
const ofReload = "reload"

// ofConsumers begins the names of the faults that have to do with the consumer protocol.
const ofConsumers = "consumers"

// takeOver moves the group to the consumer protocol, one process after another. kfake has no group of members of both: the first are
// refused until the last one has left it.
func (t *trouble) takeOver() {
	t.eachInTurn(func(f *settings) { f.protocol = ingest.Consumer })
}

// eachInTurn reloads all processes, one after another.
func (t *trouble) eachInTurn(change func(*settings)) {
	whole := t.length
	t.length /= time.Duration(len(t.slots))
	for _, s := range t.slots {
		s.reload(change)
		t.last()
	}
	t.length = whole
}

// reloadLive changes what counts at once.
func (t *trouble) reloadLive() {
	t.slot().reload(func(f *settings) { f.stall += time.Second })
	t.last()
}

// reloadDrain changes what a process has to settle and commit for, once and then again.
func (t *trouble) reloadDrain() {
	s := t.slot()
	t.repeatedly(2, func() {
		window, maxBatch, linger := 1+t.rng.IntN(8), 1+t.rng.IntN(60), time.Duration(1+t.rng.IntN(100))*time.Millisecond
		s.reload(func(f *settings) {
			f.window, f.maxBatch, f.linger, f.autoflush = window, maxBatch, linger, !f.autoflush
		})
	})
}

// reloadFilter gives all processes another filter, one after another, as who deploys it does. Meanwhile some write by the one and some by
// the other.
func (t *trouble) reloadFilter() {
	by := filter(t.rng.IntN(len(filters)))
	t.eachInTurn(func(f *settings) { f.filter = by })
}

// reloadRefused asks for what cannot change while a process works.
func (t *trouble) reloadRefused() {
	s := t.slot()
	now := s.reads()
	for _, change := range []func(*settings){
		func(f *settings) { f.salt++ },
		func(f *settings) { f.window = -1 },
		func(f *settings) { f.protocol = ingest.GroupProtocol("none") },
	} {
		other := now
		change(&other)
		t.refuses(now, other)
	}
	s.reload(func(f *settings) { f.retries += 100 }) // who starts it meanwhile starts it so
	t.last()
	s.reload(func(f *settings) { f.retries -= 100 })
}
