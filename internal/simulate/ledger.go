package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
)

// position is where a record is in the topic.
type position struct {
	partition int
	offset    int64
}

// Ledger is what the servers saw: which records exist, which mutations were applied, which dead letters were written, which member had
// which partition, and what was committed. It checks each commit against the invariants as it arrives.
type Ledger struct {
	mu       sync.Mutex
	records  [][]*record // by partition, in offset order
	applied  map[string]map[string]bool
	buried   map[position]bool
	owners   map[int32]map[string]map[int]bool // by generation and owner
	checked  []int64                           // by partition: everything below is known to be settled
	accepted map[int]int64                     // what the broker holds
	last     map[commitOf]int64
	doubts   map[string]time.Time    // by slot: when a commit of its process last failed
	clients  map[string]string       // by member: the name of its loop to the brokers
	loops    map[string]*reading     // by that name
	has      map[string]map[int]bool // by member of the consumer protocol: the partitions that it may have

	findings []string
	found    map[string]int // by invariant
	commits  int
	unknown  int // records of which the marks do not say by which filter they were written
}

// reading is what a loop did, by partition, since it was last assigned the partition.
type reading struct {
	filter filter
	from   map[int]int64 // first submitted offset
	upto   map[int]int64 // everything that it submitted below it is known to be settled
}

// commitOf identifies who commits for which partition.
type commitOf struct {
	generation int32
	member     string
	partition  int
}

func newLedger(partitions int) *Ledger {
	return &Ledger{records: make([][]*record, partitions), applied: map[string]map[string]bool{}, buried: map[position]bool{},
		owners: map[int32]map[string]map[int]bool{}, checked: make([]int64, partitions), accepted: map[int]int64{}, last: map[commitOf]int64{},
		doubts: map[string]time.Time{}, found: map[string]int{}, clients: map[string]string{}, loops: map[string]*reading{},
		has: map[string]map[int]bool{}}
}

const maxFindings = 5 // of one invariant

// find records a fault. Its text begins with the number of the invariant in docs/reliability.md, or 0 if the simulation itself failed.
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

// add adds a record that is about to be produced, and returns its position.
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

// apply records a mutation that a region server applied: the first cell of a row is its scan's id.
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

// settled reports whether a record's contents are durable: in all tables, or in the dead letters. What the filter drops has no contents.
// The caller holds l.mu.
func (l *Ledger) settled(p position, by filter) bool {
	r := l.records[p.partition][p.offset]
	if r.poison != "" && !l.buried[p] {
		return false
	}
	for _, t := range tables {
		for _, s := range r.scans {
			if !by.keeps(s) {
				continue
			}
			if id := t.columns[0].value(s); id != nowhere && !l.applied[t.name][id] { // what is hidden cannot be recognized by an id
				return false
			}
		}
	}
	return true
}

// writing returns the number of records between two committed offsets of a partition that write something.
func (l *Ledger) writing(partition int, from, to int64) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; from < to; from++ {
		r := l.records[partition][from]
		if slices.ContainsFunc(r.scans, r.must.keep) {
			n++
		}
	}
	return n
}

// tombstones returns the number of records that are deletes.
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

// assign records which member has which partition in a generation, from the leader's request.
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

// ownerOf returns the owner of a member's partitions: a static member that returns has them in the same generation, with another id. The
// ids of dynamic members begin with their client's name and life, those of static ones with their instance's.
func ownerOf(member string) string {
	if instance, _, _ := strings.Cut(member, "-"); !strings.Contains(instance, ".") {
		return instance
	}
	return member
}

// commit checks a commit, accepted or not, against invariant 5.
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
	owner := by.member
	if l.has[owner] == nil {
		owner = ownerOf(owner)
	}
	if !l.owners[by.generation][owner][by.partition] {
		l.note("5: partition %d: %s commits %d in generation %d, in which the partition is not its own", by.partition,
			by.member, offset, by.generation)
	}
	if offset < l.last[by] && !l.doubtful(by.member) {
		l.note("5: partition %d: %s commits %d after %d", by.partition, by.member, offset, l.last[by])
	}
	l.last[by] = offset
	loop := l.loops[l.clients[by.member]]
	if loop == nil {
		l.note("0: %s commits, and nobody knows which process it is", by.member)
		return
	}
	for at := min(l.checked[by.partition], loop.begins(by.partition, offset)); at < offset; at++ {
		if at >= int64(len(l.records[by.partition])) {
			l.note("5: partition %d: %d is committed, past the end", by.partition, offset)
			return
		}
		if !l.settled(position{by.partition, at}, loop.filter) {
			l.note("5: partition %d: %d is committed by %s, and the record at %d is neither written nor buried", by.partition, offset, by.member, at)
			return
		}
		r := l.records[by.partition][at]
		r.must = r.must.with(loop.filter)
		l.checked[by.partition], loop.upto[by.partition] = max(l.checked[by.partition], at+1), at+1
	}
}

// begins returns the offset from which on a loop's commits for a partition cover what it has read itself and was not checked before.
func (r *reading) begins(partition int, otherwise int64) int64 {
	from, ok := r.from[partition]
	if !ok {
		return otherwise
	}
	return max(from, r.upto[partition])
}

// begin records that a loop begins, by its name to the brokers.
func (l *Ledger) begin(client string, by filter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loops[client] = &reading{by, map[int]int64{}, map[int]int64{}}
}

// assigned records that a loop has begun to work on partitions.
func (l *Ledger) assigned(client string, partitions []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range partitions {
		delete(l.loops[client].from, p)
		delete(l.loops[client].upto, p)
	}
}

// submitted records what a loop submitted.
func (l *Ledger) submitted(client string, b *event.Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	loop := l.loops[client]
	for i := range b.Events {
		at := b.Events[i].Record
		if first, ok := loop.from[at.Partition]; !ok || at.Offset < first {
			loop.from[at.Partition] = at.Offset
		}
		r := l.records[at.Partition][at.Offset]
		r.by = r.by.with(loop.filter)
	}
}

// answered records a broker's answer to a member or a client that wants to be one.
func (l *Ledger) answered(client string, q kmsg.Request, answer kmsg.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch a := answer.(type) {
	case *kmsg.JoinGroupResponse:
		l.clients[a.MemberID] = client
	case *kmsg.ConsumerGroupHeartbeatResponse:
		if q := q.(*kmsg.ConsumerGroupHeartbeatRequest); q.Group == group && a.ErrorCode == 0 {
			l.beat(client, q, a)
		}
	}
}

// beat updates which partitions a member of the consumer protocol may have in its epoch: those that it is given, and those that it had
// since it last joined, has not given back, and that no other member has been given since. The caller holds l.mu.
func (l *Ledger) beat(client string, q *kmsg.ConsumerGroupHeartbeatRequest, a *kmsg.ConsumerGroupHeartbeatResponse) {
	member := q.MemberID
	if a.MemberID != nil {
		member = *a.MemberID
	}
	l.clients[member] = client
	if q.MemberEpoch < 0 { // it leaves
		l.has[member] = map[int]bool{}
		return
	}
	had := l.has[member]
	l.has[member] = map[int]bool{}
	if had != nil && q.MemberEpoch > 0 && q.Topics == nil {
		l.has[member] = had
	}
	give := func(p int32) { l.has[member][int(p)] = true }
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			give(p)
		}
	}
	if a.Assignment != nil {
		for _, t := range a.Assignment.Topics {
			for _, p := range t.Partitions {
				for _, has := range l.has {
					delete(has, int(p))
				}
				give(p)
			}
		}
	}
	of := l.owners[a.MemberEpoch]
	if of == nil {
		of = map[string]map[int]bool{}
		l.owners[a.MemberEpoch] = of
	}
	if of[member] == nil || q.MemberEpoch == 0 {
		of[member] = map[int]bool{}
	}
	maps.Copy(of[member], l.has[member])
}

// consumed reports whether the group has had members of the consumer protocol.
func (l *Ledger) consumed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.has) > 0
}

// doubt records that a commit of a process failed. It may have been sent, and arrive after later ones, whatever the process does. A process
// that knows this commits again, so that the broker holds the right offset in the end.
func (l *Ledger) doubt(process string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot, _, _ := strings.Cut(process, ".")
	l.doubts[slot] = time.Now()
}

const doubtful = 3 * time.Minute // longer than any fault holds up a request

// doubtful reports whether a member's commits may arrive out of order. The caller holds l.mu.
func (l *Ledger) doubtful(member string) bool {
	slot, _, _ := strings.Cut(l.clients[member], ".")
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

// accept records what the broker holds, which never goes back.
func (l *Ledger) accept(partition int, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.accepted[partition] && !l.anyDoubtful() {
		l.note("5: partition %d: the broker's offset went back from %d to %d", partition, l.accepted[partition], offset)
	}
	l.accepted[partition] = offset
}

// Findings returns everything that was found wrong, each beginning with its invariant's number.
func (l *Ledger) Findings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.findings...)
}
