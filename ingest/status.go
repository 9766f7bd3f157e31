package ingest

import (
	"fmt"
	"sync"
	"time"

	"brine/event"
	"brine/ingest/pace"
	"brine/internal/wording"
)

// State is what a partition is doing.
type State string

// The states of a partition.
const (
	Starting State = "starting" // it finds out where to begin
	Running  State = "running"
	Retrying State = "retrying" // after a retry verdict: some flight is being submitted again
	Waiting  State = "waiting"  // a broker or the dead letters do not respond, or the partition is not admitted
	Halted   State = "halted"   // it writes nothing until an operator acts; retried every HaltPause
	Draining State = "draining" // it is going away, and settles pending flights
)

// Reasons for which a partition waits or halts, besides those of its Writer and AllRejected.
const (
	OffsetGone     event.Reason = "offset_gone"  // the log does not have the next offset
	TopicRecreated event.Reason = "topic_anew"   // the topic was deleted and recreated since the last commit
	CorruptData    event.Reason = "corrupt_data" // the broker sends bytes that are not records

	OtherConfiguration event.Reason = "other_configuration" // the partition was read by a newer configuration than that of this process

	DeadLettersDown event.Reason = "dead_letters_down" // rejected records cannot be stored
)

// PartitionStatus is the progress of one partition.
type PartitionStatus struct {
	Topic     string       `json:"topic"`
	Partition int          `json:"partition"`
	State     State        `json:"state"`
	Reason    event.Reason `json:"reason,omitempty"` // why it is retrying, waiting or halted
	Detail    string       `json:"detail,omitempty"` // the same in words
	Watermark int64        `json:"watermark"`        // everything below is settled; −1 until the start is known
	Committed int64        `json:"committed"`        // by the group, as far as this process knows; −1 before the first commit
	End       int64        `json:"end"`              // last stable offset as last seen: where committed records end
	Since     time.Time    `json:"since"`            // when the watermark last moved, or last had nothing before it

	Held  bool  `json:"-"` // not read yet, because it is not admitted; the watermark is where it will begin
	Reach int64 `json:"-"` // no record from this offset on has been submitted, by this process or one that read the partition before

	caughtUp time.Time // when the watermark last had nothing before it; zero: never
	oldest   int64     // timestamp of the first unsettled record if out, otherwise of one settled last; 0: not known
	out      bool
	next     int64 // timestamp of the record at offset nextAt, looked up while nothing was read; 0: not known
	nextAt   int64
}

// Lag returns the number of offsets before the watermark. Like every lag tool, it counts markers and compacted records.
func (p PartitionStatus) Lag() int64 { return max(0, p.End-max(p.Watermark, 0)) }

// Age returns how old the oldest unsettled record is, by its own timestamp; 0 if all are settled. Of a record that has not been fetched, it
// is only known that it came after the last settled one, and after the watermark last had nothing before it.
func (p PartitionStatus) Age(now time.Time) time.Duration {
	if p.Lag() == 0 || p.Watermark < 0 {
		return 0
	}
	var age time.Duration
	switch since := now.Sub(p.caughtUp); {
	case p.next > 0 && p.nextAt == p.Watermark && !p.out:
		age = now.Sub(time.UnixMilli(p.next))
	case p.oldest > 0 && (p.out || p.caughtUp.IsZero()):
		age = now.Sub(time.UnixMilli(p.oldest))
	case p.oldest > 0:
		age = min(since, now.Sub(time.UnixMilli(p.oldest)))
	case !p.caughtUp.IsZero():
		age = since
	default:
		age = now.Sub(p.Since)
	}
	return max(0, age) // a producer's clock may be ahead
}

// Status is what a Loop is doing now.
type Status struct {
	Joined     bool              `json:"joined"`             // a member of the group, with an assignment (which may be empty)
	Apart      time.Time         `json:"apart,omitzero"`     // since when it should be a member but is not; zero while it is one
	Detail     string            `json:"detail,omitempty"`   // why the last attempt to join failed, or waits
	NoTopic    bool              `json:"no_topic,omitempty"` // nothing can begin until the topic is created
	Generation int               `json:"generation"`
	Partitions []PartitionStatus `json:"partitions"` // owned by us, in ascending order, topic by topic

	// AllRejected explains why partitions are halted for AllRejected; empty if none is.
	AllRejected string `json:"all_rejected,omitempty"`

	// Paused and Limit are what people asked of the loop; see pace.Order. Share is our part of the group's partitions.
	Paused  bool      `json:"paused,omitempty"`
	Why     string    `json:"paused_for,omitempty"`
	Limit   float64   `json:"limit,omitempty"`
	Share   float64   `json:"share,omitempty"`
	Resumed time.Time `json:"resumed,omitzero"` // when its last pause ended
	// Yields is the rate, in records per second, that this process holds the loop to in favour of other loops; 0: none.
	Yields float64 `json:"yields,omitempty"`

	several bool // the loop reads several topics
}

// pace adds what was asked of the loop.
func (s *Status) pace(asked pace.State) {
	s.Paused, s.Why, s.Limit, s.Resumed = asked.Paused && !asked.Unread, asked.Why, asked.Limit, asked.Resumed
	s.Yields = asked.Bound
	if s.Limit > 0 {
		s.Share = asked.Share
	}
}

// Name returns the name of a partition, with its topic if the loop reads several.
func (s Status) Name(p PartitionStatus) string {
	if s.several {
		return fmt.Sprintf("topic %s, partition %d", p.Topic, p.Partition)
	}
	return fmt.Sprintf("partition %d", p.Partition)
}

// Of returns the partitions of one topic.
func (s Status) Of(topic string) (of []PartitionStatus) {
	for _, p := range s.Partitions {
		if p.Topic == topic {
			of = append(of, p)
		}
	}
	return of
}

// Problems describes every partition that makes no progress: it is halted, or it has records before it while its watermark has stood still
// for longer than stall. It also describes a loop that has been outside its group for that long, or has no topic. None means healthy.
func (s Status) Problems(now time.Time, stall time.Duration) []string {
	var problems []string
	if s.NoTopic {
		return []string{s.Detail}
	}
	if apart := now.Sub(s.Apart); !s.Apart.IsZero() && apart > stall {
		problem := fmt.Sprintf("not a member of its group for %v", apart.Round(time.Second))
		if s.Detail != "" {
			problem += ": " + s.Detail
		}
		problems = append(problems, problem)
	}
	for _, p := range s.Partitions {
		still := now.Sub(p.Since)
		if !s.Resumed.IsZero() { // before that it was paused
			still = min(still, now.Sub(s.Resumed))
		}
		waits := s.Paused || s.Limit > 0 // to be resumed, or for its turn; one that yields is never held up for long
		if waits && !p.out && p.State != Halted && p.State != Waiting {
			continue
		}
		if p.State != Halted && (still <= stall || p.Lag() == 0 && p.State != Waiting && p.State != Starting) {
			continue
		}
		unit := "offsets"
		if p.Lag() == 1 {
			unit = "offset"
		}
		problem := fmt.Sprintf("%s is %s at offset %d, %d %s behind, for %v", s.Name(p), p.State, p.Watermark, p.Lag(), unit,
			still.Round(time.Second))
		switch {
		case p.Reason != "":
			problem += fmt.Sprintf(": %s: %s", p.Reason, p.Detail)
		case s.Why != "":
			problem += ": " + s.Why
		case p.State == Running:
			problem += ": the writer has not settled what it received"
		}
		problems = append(problems, problem)
	}
	return problems
}

// progress keeps the status of one partition.
type progress struct {
	mu       sync.Mutex
	status   PartitionStatus // its Reason and Detail are those of a halt
	broker   trouble         // why nothing can be fetched
	flights  trouble         // why some flight is not settled yet
	troubled int             // number of such flights
}

type trouble struct {
	state  State
	reason event.Reason
	detail string
}

func (p *progress) init(topic string, partition int) {
	p.status = PartitionStatus{Topic: topic, Partition: partition, State: Starting, Watermark: -1, Committed: -1, Since: time.Now()}
}

// snapshot returns the status, with what impedes a running partition instead of Running.
func (p *progress) snapshot() PartitionStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	if s.State == Halted || s.State == Draining {
		return s
	}
	t := p.broker
	if p.troubled > 0 {
		t = p.flights
	}
	if t.state != "" {
		s.State, s.Reason, s.Detail = t.state, t.reason, t.detail
	}
	return s
}

// moved notes a new watermark and returns the end.
func (p *progress) moved(watermark int64) (end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Watermark, p.status.Held = watermark, false
	p.status.End = max(p.status.End, watermark)
	p.status.Since = time.Now()
	return p.status.End
}

// fetched notes the end of the log, as a broker has just reported it.
func (p *progress) fetched(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broker = trouble{}
	p.status.End = max(end, p.status.Watermark)
	if p.status.Lag() == 0 {
		p.status.Since = time.Now()
		p.status.caughtUp = p.status.Since
	}
}

// grown is fetched for a paused loop, which fetches nothing: it does not lower the end.
func (p *progress) grown(end int64) {
	p.fetched(max(end, p.snapshot().End))
}

// held notes where a partition begins that must not be read yet.
func (p *progress) held(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Watermark, p.status.Held = offset, true
	p.status.End = max(p.status.End, offset)
}

// heldUntil notes the end of a partition that must not be read yet. Unlike fetched, it ends no trouble: the partition still waits.
func (p *progress) heldUntil(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.End = max(end, p.status.Watermark)
}

// knowsNext reports whether the timestamp of the record at or after an offset was looked up.
func (p *progress) knowsNext(offset int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.next > 0 && p.status.nextAt == offset
}

// nextIs notes that timestamp.
func (p *progress) nextIs(offset, at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.next, p.status.nextAt = at, offset
}

// waits notes that no broker returns what we ask for.
func (p *progress) waits(reason event.Reason, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broker = trouble{Waiting, reason, errorText(err)}
}

func (p *progress) committed(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Committed = offset
}

// state notes what the partition does, with the reason if it is halted.
func (p *progress) state(s State, reason event.Reason, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.State, p.status.Reason, p.status.Detail = s, reason, errorText(err)
}

// impede counts another flight that cannot settle yet; free undoes that.
func (p *progress) impede() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubled++
}

func (p *progress) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubled--
}

// impeded notes why a flight cannot settle: Retrying because of the writer, or Waiting for the dead letters.
func (p *progress) impeded(s State, reason event.Reason, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flights = trouble{s, reason, errorText(err)}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return wording.Plain(err.Error())
}
