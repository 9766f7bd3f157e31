package simulate

import (
	"time"

	"brine/ingest"
)

// ofReload is the name prefix of the faults that change the configuration of running processes.
const ofReload = "reload"

// ofConsumers is the name prefix of the faults that concern the consumer protocol.
const ofConsumers = "consumers"

// takeOver moves the group to the consumer protocol, one process after another. kfake cannot have members of both in a group: it refuses
// the first ones until the last of the others has left.
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

// reloadLive changes what takes effect at once.
func (t *trouble) reloadLive() {
	t.slot().reload(func(f *settings) { f.stall += time.Second })
	t.last()
}

// reloadDrain changes what makes a process settle and commit first, and then changes it again.
func (t *trouble) reloadDrain() {
	s := t.slot()
	t.repeatedly(2, func() {
		window, maxBatch, linger := 1+t.rng.IntN(8), 1+t.rng.IntN(60), time.Duration(1+t.rng.IntN(100))*time.Millisecond
		s.reload(func(f *settings) {
			f.window, f.maxBatch, f.linger, f.autoflush = window, maxBatch, linger, !f.autoflush
		})
	})
}

// reloadFilter gives all processes another filter, one after another, as a deployment does. In the meantime, some write by one filter and
// some by the other.
func (t *trouble) reloadFilter() {
	by := filter(t.rng.IntN(len(filters)))
	t.eachInTurn(func(f *settings) { f.filter = by })
}

// reloadRefused asks for what cannot change while a process runs.
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
	s.reload(func(f *settings) { f.retries += 100 }) // whoever starts it now starts it with this
	t.last()
	s.reload(func(f *settings) { f.retries -= 100 })
}
