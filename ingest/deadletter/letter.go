package deadletter

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/event"
)

// Letter is one record that could not be written.
type Letter struct {
	Record *event.Record
	Reason event.Reason
	Field  string // path of the field in the record; empty if the whole record is meant
	Detail string // for humans
	Group  string // the consumer group whose writer rejected it
	Time   time.Time

	Replayed time.Time // of a mark, and of a dead letter that one closes: when the record was written
	Let      string    // of these: what the record was fixed by; empty: the pipeline accepts it as it is
}

// LetText formats a Let in one line, for people.
func LetText(let string) string { return strings.ReplaceAll(let, "\n", ", ") }

// Origin returns the place of the record in its own topic.
func (l *Letter) Origin() Place { return Place{l.Record.Topic, l.Record.Partition, l.Record.Offset} }

// New returns the dead letter of a record that cannot be written.
func New(rec *event.Record, reason event.Reason, err error, group string) Letter {
	e := &event.Error{Reason: reason}
	if !errors.As(err, &e) && err != nil {
		e.Detail = err.Error()
	}
	e = e.Short()
	return Letter{Record: rec, Reason: e.Reason, Field: e.Field, Detail: e.Detail, Group: group, Time: time.Now()}
}

// Kept is a dead letter in its topic. Replayed is zero while it is open. It and its record are valid until the next.
type Kept struct {
	Letter
	Place Place
}

// Clone returns a copy that stays valid.
func (k *Kept) Clone() Kept {
	c, rec := *k, *k.Record
	rec.Key, rec.Value, rec.Headers = slices.Clone(rec.Key), slices.Clone(rec.Value), slices.Clone(rec.Headers)
	for i := range rec.Headers {
		rec.Headers[i].Value = slices.Clone(rec.Headers[i].Value)
	}
	c.Record = &rec
	return c
}

// Place is a position in a topic: of dead letters, or of their records.
type Place struct {
	Topic     string
	Partition int
	Offset    int64
}

// InTopic returns the place within its topic: PARTITION:OFFSET.
func (p Place) InTopic() string { return fmt.Sprintf("%d:%d", p.Partition, p.Offset) }

// Among returns InTopic, after the topic if a pipeline reads several.
func (p Place) Among(several bool) string {
	if several {
		return p.String()
	}
	return p.InTopic()
}

func (p Place) String() string { return fmt.Sprintf("%s/%d:%d", p.Topic, p.Partition, p.Offset) }

// ParsePlace parses TOPIC/PARTITION:OFFSET; the topic may be omitted.
func ParsePlace(text string) (p Place, err error) {
	at := strings.LastIndex(text, "/")
	p.Topic = text[:max(at, 0)]
	partition, offset, ok := strings.Cut(text[at+1:], ":")
	var errs [2]error
	p.Partition, errs[0] = strconv.Atoi(partition)
	p.Offset, errs[1] = strconv.ParseInt(offset, 10, 64)
	if !ok || errors.Join(errs[:]...) != nil || p.Partition < 0 || p.Offset < 0 {
		return p, fmt.Errorf("%q is not PARTITION:OFFSET", text)
	}
	return p, nil
}
