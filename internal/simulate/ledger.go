package simulate

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// position is where a record is in the topic.
type position struct {
	partition int
	offset    int64
}

// Ledger is what the servers saw: which records there are, which mutations were applied, which dead letters were written, which
// member had which partition, and what was committed. It holds each commit against the invariants as it comes.
type Ledger struct {
	mu       sync.Mutex
	records  [][]*record // by partition, in the order of offsets
	applied  map[string]map[string]bool
	buried   map[position]bool
	owners   map[int32]map[string]map[int]bool // by generation and owner
	checked  []int64                           // by partition: everything below is known to be settled
	accepted map[int]int64                     // what the broker holds
	last     map[commitOf]int64
	doubts   map[string]time.Time // by slot, when a commit of its process failed last

	findings []string
	found    map[string]int // by invariant
	commits  int
}

// commitOf is who commits, for which partition.
type commitOf struct {
	generation int32
	member     string
	partition  int
}

func newLedger(partitions int) *Ledger {
	return &Ledger{records: make([][]*record, partitions), applied: map[string]map[string]bool{}, buried: map[position]bool{},
		owners: map[int32]map[string]map[int]bool{}, checked: make([]int64, partitions), accepted: map[int]int64{}, last: map[commitOf]int64{},
		doubts: map[string]time.Time{}, found: map[string]int{}}
}

const maxFindings = 5 // of one invariant

// find notes what is wrong. What it says begins with the number of the invariant in docs/reliability.md, 0 when the simulation itself
// has failed.
func (l *Ledger) find(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(format, args...)
}

func (l *Ledger) note(format string, args ...any) {
	number, _, _ := strings.Cut(format, ":")
	if l.found[number]++; l.found[number] <= maxFindings {
		l.findings = append(l.findings, fmt.Sprintf(format, args...))
	}
}

// add enters a record that is about to be produced, and returns its place.
func (l *Ledger) add(r *record) position {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.at = time.Now()
	p := partition(r.key, len(l.records))
	l.records[p] = append(l.records[p], r)
	return position{p, int64(len(l.records[p]) - 1)}
}

// ends returns the number of records by partition.
func (l *Ledger) ends() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	ends := make([]int64, len(l.records))
	for p, rs := range l.records {
		ends[p] = int64(len(rs))
	}
	return ends
}

// apply notes a mutation that a region server has applied: the first cell of a row is its scan's id.
func (l *Ledger) apply(table, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.applied[table] == nil {
		l.applied[table] = map[string]bool{}
	}
	l.applied[table][id] = true
}

func (l *Ledger) bury(p position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buried[p] = true
}

// settled reports whether what a record says is durable: in all tables, or in the dead letters; one that is left out says nothing.
// l.mu is held.
func (l *Ledger) settled(p position) bool {
	r := l.records[p.partition][p.offset]
	if r.poison != "" && !l.buried[p] {
		return false
	}
	for _, t := range tables {
		for _, s := range r.scans {
			if id := t.columns[0].value(s); id != nowhere && !l.applied[t.name][id] { // what is hidden is not known by an id
				return false
			}
		}
	}
	return true
}

// writing counts the records of a partition between two offsets that write something.
func (l *Ledger) writing(partition int, from, to int64) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; from < to; from++ {
		n += min(1, len(l.records[partition][from].scans))
	}
	return n
}

// tombstones counts the records that are deletes.
func (l *Ledger) tombstones() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, records := range l.records {
		for _, r := range records {
			if len(r.scans) > 0 && r.scans[0].Gone {
				n++
			}
		}
	}
	return n
}

// assign notes which member has which partition in a generation, from the leader's request.
func (l *Ledger) assign(q *kmsg.SyncGroupRequest) {
	if len(q.GroupAssignment) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	members := map[string]map[int]bool{}
	for _, m := range q.GroupAssignment {
		var a kmsg.ConsumerMemberAssignment
		if err := a.ReadFrom(m.MemberAssignment); err != nil {
			l.note("assignment of generation %d: %v", q.Generation, err)
		}
		owner := ownerOf(m.MemberID)
		members[owner] = map[int]bool{}
		for _, t := range a.Topics {
			for _, p := range t.Partitions {
				members[owner][int(p)] = true
			}
		}
	}
	l.owners[q.Generation] = members
}

// ownerOf returns the owner of a member's partitions: a static member that comes back has them in the same generation, under
// another id. The ids of dynamic members begin with their client's name and life, those of static ones with their instance's.
func ownerOf(member string) string {
	if instance, _, _ := strings.Cut(member, "-"); !strings.Contains(instance, ".") {
		return instance
	}
	return member
}

// commit holds a commit, accepted or not, against invariant 5.
func (l *Ledger) commit(q *kmsg.OffsetCommitRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			l.commits++
			l.commitOne(commitOf{q.Generation, q.MemberID, int(p.Partition)}, p.Offset)
		}
	}
}

func (l *Ledger) commitOne(by commitOf, offset int64) {
	if !l.owners[by.generation][ownerOf(by.member)][by.partition] {
		l.note("5: partition %d: %s commits %d in generation %d, in which the partition is not its own", by.partition,
			by.member, offset, by.generation)
	}
	if offset < l.last[by] && !l.doubtful(by.member) {
		l.note("5: partition %d: %s commits %d after %d", by.partition, by.member, offset, l.last[by])
	}
	l.last[by] = offset
	for at := l.checked[by.partition]; at < offset; at++ {
		if at >= int64(len(l.records[by.partition])) {
			l.note("5: partition %d: %d is committed, past the end", by.partition, offset)
			return
		}
		if !l.settled(position{by.partition, at}) {
			l.note("5: partition %d: %d is committed by %s, and the record at %d is neither written nor buried", by.partition, offset, by.member, at)
			return
		}
		l.checked[by.partition] = at + 1
	}
}

// doubt notes that a commit of a process failed. It may have been sent, and arrive after later ones, whatever the process does; a
// process that knows commits again, so that what the broker holds is right in the end.
func (l *Ledger) doubt(process string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot, _, _ := strings.Cut(process, ".")
	l.doubts[slot] = time.Now()
}

const doubtful = 3 * time.Minute // longer than any fault holds up a request

// doubtful reports whether a member's commits may arrive out of order. l.mu is held.
func (l *Ledger) doubtful(member string) bool {
	slot, _, _ := strings.Cut(member, "-") // a member's id begins with its process's name, or with its instance's
	slot, _, _ = strings.Cut(slot, ".")
	at, ok := l.doubts[slot]
	return ok && time.Since(at) < doubtful
}

func (l *Ledger) anyDoubtful() bool {
	for _, at := range l.doubts {
		if time.Since(at) < doubtful {
			return true
		}
	}
	return false
}

// accept notes what the broker holds, which never goes back.
func (l *Ledger) accept(partition int, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.accepted[partition] && !l.anyDoubtful() {
		l.note("5: partition %d: the broker's offset went back from %d to %d", partition, l.accepted[partition], offset)
	}
	l.accepted[partition] = offset
}

// Findings are all that was found wrong, each begins with its invariant's number; empty when nothing was.
func (l *Ledger) Findings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.findings...)
}
