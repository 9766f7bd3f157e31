package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"brine/event"
	"brine/ingest/deadletter"
	"brine/ingest/internal/broker"
	"brine/ingest/pace"
)

// Kafka is how to reach the brokers.
type Kafka = broker.Kafka

// Errors in the chains of the errors that Run and other calls return.
var (
	ErrUnreachable = broker.ErrUnreachable
	ErrNotKafka    = broker.ErrNotKafka
	ErrMalformed   = broker.ErrMalformed
	ErrNoTopic     = broker.ErrNoTopic
	ErrDenied      = broker.ErrDenied // for one of the three below if it is not about a topic
	ErrCredentials = error(broker.ErrCredentials)
	ErrMechanism   = error(broker.ErrMechanism)
	ErrNoSASL      = error(broker.ErrNoSASL)
	ErrNoPartition = errors.New("no such partition")
	ErrOtherReplay = errors.New("the name of this replay is taken")
)

// WantsTLS reports whether an error came from a port that speaks TLS and was addressed without it.
func WantsTLS(err error) bool { return broker.WantsTLS(err) }

// DeadLetters keeps records that cannot be written, whole and with the reason. It is safe for concurrent use.
type DeadLetters interface {
	// Write returns nil only when all dead letters are durable. After an error it is called again with the same dead letters: a dead letter is
	// identified by its record (topic, partition, offset) and the group, and readers ignore repeats. The dead letters' records are valid until
	// Write returns.
	Write(ctx context.Context, letters []deadletter.Letter) error
}

// Policy is what to do when a partition's next offset is no longer in its log: retention has removed it, or the log is shorter than what
// was committed (the topic was recreated, or a broker lost its tail).
type Policy string

// The policies for offsets out of range.
const (
	StopAndSay   Policy = "stop"     // the partition halts and reports which offsets are gone
	FromEarliest Policy = "earliest" // goes on with the oldest record, after reporting what was skipped
	FromLatest   Policy = "latest"   // goes on with the newest, after reporting what was skipped
)

// GroupProtocol is how a Loop is a member of its group.
type GroupProtocol string

// The protocols. A group may have members of both, so that it can move from one to the other member by member.
const (
	Classic  GroupProtocol = "classic"  // all members meet at each change, and all partitions pause
	Consumer GroupProtocol = "consumer" // KIP-848: the brokers move partitions one by one; Kafka 4.0, better 4.3, and later
	Auto     GroupProtocol = "auto"     // Consumer if the brokers support it
)

// Options are the settings of one Run: its topics, one group, one writer.
type Options struct {
	Kafka  Kafka
	Topic  string
	Topics *Topics      // what a Loop reads instead of Topic; nil: Topic
	Group  string       // the consumer group, e.g. brine.scans.rows
	Schema event.Schema // what the pipeline declares of its records
	Writer event.Writer // where batches go; safe for concurrent use

	// Conditions are the conditions that the writer's places put on the schema's fields. The number of events that fail each is reported.
	Conditions []event.Condition

	// Start is where a group without committed offsets begins; default Earliest. A partition added to a topic that the group already reads
	// always begins at its first record.
	Start Position
	// OutOfRange is what to do about offsets that are gone; default StopAndSay.
	OutOfRange Policy

	// InstanceID makes the membership static (Kafka 2.3 and later): the group keeps the partitions of a member that stops for SessionTimeout,
	// and returns them without a rebalance if a member with the same id joins. Each process needs its own. See Resign.
	InstanceID string

	// GroupProtocol is how the loop is a member; default Classic. In the other, the brokers decide about Heartbeat, and how long a silent
	// member stays one; SessionTimeout is how long the loop works on while they do not answer.
	GroupProtocol GroupProtocol

	SessionTimeout   time.Duration // default 30 s; without a heartbeat for that long, the broker gives our partitions away
	RebalanceTimeout time.Duration // default 60 s; how long the group waits for its members at a rebalance
	Heartbeat        time.Duration // default 3 s, at most a third of SessionTimeout

	MaxBatchRecords int   // per Submit; default 1,000
	MaxBatchBytes   int64 // per Submit, as event.Record.Size counts; default 1 MiB. A larger record goes alone
	MaxFetchBytes   int64 // per fetch, after decompression, as closely as it can be estimated; default 1 MiB
	// flights pending per partition, at most; default 8. Flights that are retried for a few of their events are not counted; the Budget bounds
	// them
	Window int

	// Budget bounds the bytes of records in memory from fetch to settle; default NewBudget(64 MiB). Runs may share one, but then a store that
	// hangs uses up the others' room: give each store its own, of one Memory.
	Budget *Budget
	// RecordsPerSecond limits what is submitted, over all partitions; 0 means no limit.
	RecordsPerSecond float64
	// Pace pauses and limits the Loop while it runs; by default nothing is held up. A Replay ignores it.
	Pace *pace.Pace

	CommitInterval time.Duration // default 1 s
	StopTimeout    time.Duration // default 30 s; after it, a stop leaves what is not settled and committed to be redelivered
	RequestTimeout time.Duration // default 10 s; for one answer of a broker, and for reaching one at the start

	RetryMin  time.Duration // default 100 ms; the first pause after a retry verdict; doubled each time, with jitter
	RetryMax  time.Duration // default 15 s
	HaltPause time.Duration // default 30 s; the longest time between the attempts of a halted partition

	// AwaitTopic is called when the topic is missing; Status reports that already. If it returns nil, Run looks for the topic again; otherwise
	// Run fails with the error. If AwaitTopic is nil, Run fails at once.
	AwaitTopic func(ctx context.Context, missing error) error

	// Admit is called before a partition is read, each time that the group assigns it. It returns what the partition's commits note of who
	// reads it: see Taken.Reader. For as long as the partition must not be read, Admit blocks; it returns an error only once ctx has ended.
	// If Admit is nil, every partition is read at once, and commits keep what they note.
	Admit func(ctx context.Context, t Taken) (reader string, err error)

	// Patient makes Run retry for as long as it takes when it cannot begin or the group refuses it; Status reports why. Otherwise Run fails,
	// as it always does when another process joins with the same InstanceID.
	Patient bool

	// HaltAfterRejects halts the partitions of a topic after that many consecutive rejects over all of them, with none written between: none
	// beyond is buried or committed until something is written. 0: never. A Replay does not use it.
	HaltAfterRejects int

	// DeadLetters keeps the records that cannot be written. Default: the topic DeadLetterTopic on the same brokers, created if missing.
	DeadLetters     DeadLetters
	DeadLetterTopic string // default: the record's topic + ".dead"

	Hooks  Hooks
	Logger *slog.Logger // default slog.Default()
}

// Taken is a partition that a Loop is about to read.
type Taken struct {
	Topic     string
	Partition int
	Offset    int64                                // of the first record that the loop will read
	Reach     int64                                // nobody has submitted a record from this offset on; Offset if all that was has settled
	Reader    string                               // what the last commit notes of who read the partition, without spaces; empty: nothing
	Moved     bool                                 // the offset was set, as by brine offsets set, or the last commit does not note who read
	Held      func(reason event.Reason, err error) // reports why the partition is not read yet; may be called again
}

// EnsureDefaults sets zero fields to their defaults. New calls it.
func (o *Options) EnsureDefaults() {
	o.Kafka.EnsureDefaults()
	o.OutOfRange = cmp.Or(o.OutOfRange, StopAndSay)
	o.GroupProtocol = cmp.Or(o.GroupProtocol, Classic)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, 30*time.Second)
	o.RebalanceTimeout = cmp.Or(o.RebalanceTimeout, 60*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, min(3*time.Second, o.SessionTimeout/3))
	o.MaxBatchRecords = cmp.Or(o.MaxBatchRecords, 1000)
	o.MaxBatchBytes = cmp.Or(o.MaxBatchBytes, 1<<20)
	o.MaxFetchBytes = cmp.Or(o.MaxFetchBytes, 1<<20)
	o.Window = cmp.Or(o.Window, 8)
	o.CommitInterval = cmp.Or(o.CommitInterval, time.Second)
	o.StopTimeout = cmp.Or(o.StopTimeout, 30*time.Second)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 10*time.Second)
	o.RetryMin = cmp.Or(o.RetryMin, 100*time.Millisecond)
	o.RetryMax = cmp.Or(o.RetryMax, max(o.RetryMin, 15*time.Second))
	o.HaltPause = cmp.Or(o.HaltPause, 30*time.Second)
	if o.Topics == nil {
		o.DeadLetterTopic = cmp.Or(o.DeadLetterTopic, o.Topic+DeadLetterSuffix)
	} else {
		o.Topics.ensureDefaults()
	}
	if o.Budget == nil {
		o.Budget = NewBudget(max(64<<20, 8*o.MaxFetchBytes))
	}
	if o.Pace == nil {
		o.Pace = new(pace.Pace)
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.Hooks.ensureDefaults()
}

// DeadLetterTopicOptions returns where the dead letters of these options are if they are in a topic.
func (o Options) DeadLetterTopicOptions() deadletter.Options {
	o.EnsureDefaults()
	return deadletter.Options{Kafka: o.Kafka, RequestTimeout: o.RequestTimeout, Source: o.Topic, Topic: o.DeadLetterTopic}
}

// Validate reports all faults at once, each with the field, its value and its bound. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("ingest: Options."+format, args...))
		}
	}
	fault(len(o.Kafka.Brokers) == 0, "Kafka.Brokers is empty; name at least one host:port")
	fault(o.Topic == "" && o.Topics == nil, "Topic is empty")
	fault(o.Topics != nil && (o.Topic != "" || len(o.Topics.Names) > 0 == (o.Topics.Match != nil)), "Topics: write Topic, or Names, or Match")
	fault(o.Topics != nil && slices.Contains(o.Topics.Names, o.DeadLetterTopic), "DeadLetterTopic is %q, one of the topics read",
		o.DeadLetterTopic)
	fault(o.Group == "", "Group is empty")
	fault(o.Writer == nil, "Writer is nil")
	fault(o.Start.offsets != nil, "Start is offsets; a group must start at earliest, latest or a time, and continues from committed offsets")
	fault(o.DeadLetters == nil && o.DeadLetterTopic == o.Topic && o.Topic != "", "DeadLetterTopic is %q, the topic being read", o.Topic)
	if err := o.Schema.Validate(); err != nil {
		fault(true, "Schema: %w", err)
	}
	switch o.OutOfRange {
	case StopAndSay, FromEarliest, FromLatest:
	default:
		fault(true, "OutOfRange is %q; it must be stop, earliest or latest", o.OutOfRange)
	}
	switch o.GroupProtocol {
	case Classic, Consumer, Auto:
	default:
		fault(true, "GroupProtocol is %q; it must be classic, consumer or auto", o.GroupProtocol)
	}
	atLeast := func(name string, v, bound time.Duration) {
		fault(v < bound, "%s is %v; it must be at least %v", name, v, bound)
	}
	atLeast("SessionTimeout", o.SessionTimeout, 300*time.Millisecond)
	atLeast("RebalanceTimeout", o.RebalanceTimeout, 300*time.Millisecond)
	atLeast("Heartbeat", o.Heartbeat, 10*time.Millisecond)
	atLeast("CommitInterval", o.CommitInterval, time.Millisecond)
	atLeast("StopTimeout", o.StopTimeout, time.Millisecond)
	atLeast("RequestTimeout", o.RequestTimeout, 10*time.Millisecond)
	atLeast("RetryMin", o.RetryMin, time.Millisecond)
	atLeast("RetryMax", o.RetryMax, o.RetryMin)
	atLeast("HaltPause", o.HaltPause, time.Millisecond)
	fault(o.Heartbeat > o.SessionTimeout/3, "Heartbeat is %v; it must be at most a third of SessionTimeout, %v",
		o.Heartbeat, o.SessionTimeout/3)
	fault(o.MaxBatchRecords < 1, "MaxBatchRecords is %d; it must be at least 1", o.MaxBatchRecords)
	fault(o.MaxBatchBytes < 1, "MaxBatchBytes is %d; it must be at least 1", o.MaxBatchBytes)
	fault(o.MaxFetchBytes < broker.MinFetchBytes || o.MaxFetchBytes > broker.MaxFetchBytes,
		"MaxFetchBytes is %d; it must be from %d to %d", o.MaxFetchBytes, broker.MinFetchBytes, broker.MaxFetchBytes)
	fault(o.Window < 1, "Window is %d; it must be at least 1", o.Window)
	fault(o.HaltAfterRejects < 0, "HaltAfterRejects is %d; it must be 0 (never) or more", o.HaltAfterRejects)
	fault(o.RecordsPerSecond < 0, "RecordsPerSecond is %g; it must be 0 (no limit) or more", o.RecordsPerSecond)
	if o.Budget != nil {
		fault(o.Budget.Size() < 8*o.MaxFetchBytes, "Budget is %d bytes; it must be at least 8 × MaxFetchBytes, %d",
			o.Budget.Size(), 8*o.MaxFetchBytes)
	}
	return errors.Join(faults...)
}

// drainTime is how long a partition that is taken away may settle and commit. By then heartbeats have stopped, and the group gives the
// partition to another member once the shorter of the two timeouts is over.
func (o *Options) drainTime() time.Duration { return min(o.SessionTimeout, o.RebalanceTimeout) / 3 }
