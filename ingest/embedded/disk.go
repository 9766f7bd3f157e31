package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// disk keeps a broker from acknowledging what its folder cannot take, and knows the reason. kfake itself reports it only in its log,
// appends after a half-written entry of its state logs, and acknowledges commits and topics that it could not write.
type disk struct {
	dir  string
	warn func(error)

	mu     sync.Mutex
	cause  error // nil if all is well
	failed time.Time
}

const (
	freeBytes  = 1 << 20     // with less, the next batch may not fit
	retryAfter = time.Second // after something could not be written
)

// Logf implements kfake.Logger. kfake calls it before it continues.
func (d *disk) Logf(_ kfake.LogLevel, format string, args ...any) {
	if !strings.HasPrefix(format, "persist") && !strings.HasPrefix(format, "save") {
		return
	}
	for _, arg := range args {
		err, _ := arg.(error)
		var at *fs.PathError
		if !errors.As(err, &at) {
			continue
		}
		if slices.Contains(stateLogs, filepath.Base(at.Path)) {
			err = errors.Join(err, cutTorn(at.Path))
		}
		d.fail(err)
	}
}

// cutTorn cuts off what a failed write left at the end of a state log.
func cutTorn(path string) error {
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	to, _ := readableTo(log)
	return os.Truncate(path, int64(to))
}

func (d *disk) fail(err error) {
	d.mu.Lock()
	first := d.cause == nil
	d.cause, d.failed = err, time.Now()
	d.mu.Unlock()
	if first {
		d.warn(fmt.Errorf("the data folder cannot be written: %w", err))
	}
}

// lacking returns an error if there is too little space, or if no file can be opened: kfake answers a write that fails with an error that
// clients do not retry.
func (d *disk) lacking() error {
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	_ = f.Close() // nothing was written
	var is syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &is); err != nil || is.Bavail*uint64(is.Bsize) >= freeBytes {
		return nil //nolint:nilerr // without an answer, the next write shows it
	}
	return &fs.PathError{Op: "write", Path: d.dir, Err: syscall.ENOSPC}
}

// refuses returns why nothing should be written now, or nil.
func (d *disk) refuses() error {
	if err := d.lacking(); err != nil {
		d.fail(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.failed) < retryAfter {
		return d.cause
	}
	return nil
}

// look clears the cause once nothing is lacking and retryAfter has passed; the next write shows whether it is gone.
func (d *disk) look() {
	d.mu.Lock()
	again := d.cause != nil && time.Since(d.failed) >= retryAfter && d.lacking() == nil
	if again {
		d.cause = nil
	}
	d.mu.Unlock()
	if again {
		d.warn(errors.New("the data folder is writable again"))
	}
}

func (d *disk) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cause
}

// refuse makes the cluster answer requests that need a write with errors that clients retry, while the folder cannot be written.
func (d *disk) refuse(c *kfake.Cluster) {
	for _, key := range []kmsg.Key{kmsg.Produce, kmsg.OffsetCommit, kmsg.CreateTopics, kmsg.InitProducerID, kmsg.EndTxn} {
		c.ControlKey(key.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			cause := d.refuses()
			if cause == nil {
				return nil, nil, false
			}
			c.KeepControl()
			return fullResponse(q, cause), nil, true
		})
	}
}

func fullResponse(q kmsg.Request, cause error) kmsg.Response {
	reason := kmsg.StringPtr(cause.Error())
	storage, coordinator := kerr.KafkaStorageError.Code, kerr.CoordinatorNotAvailable.Code
	switch q := q.(type) {
	case *kmsg.ProduceRequest:
		r := q.ResponseKind().(*kmsg.ProduceResponse)
		for _, t := range q.Topics {
			topic := kmsg.ProduceResponseTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				part := kmsg.NewProduceResponseTopicPartition()
				part.Partition, part.ErrorCode, part.ErrorMessage, part.BaseOffset = p.Partition, storage, reason, -1
				topic.Partitions = append(topic.Partitions, part)
			}
			r.Topics = append(r.Topics, topic)
		}
		return r
	case *kmsg.OffsetCommitRequest:
		r := q.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, t := range q.Topics {
			topic := kmsg.OffsetCommitResponseTopic{Topic: t.Topic, TopicID: t.TopicID}
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: coordinator})
			}
			r.Topics = append(r.Topics, topic)
		}
		return r
	case *kmsg.CreateTopicsRequest:
		r := q.ResponseKind().(*kmsg.CreateTopicsResponse)
		for _, t := range q.Topics {
			topic := kmsg.NewCreateTopicsResponseTopic()
			topic.Topic, topic.ErrorCode, topic.ErrorMessage = t.Topic, storage, reason
			r.Topics = append(r.Topics, topic)
		}
		return r
	case *kmsg.InitProducerIDRequest:
		r := q.ResponseKind().(*kmsg.InitProducerIDResponse)
		r.ErrorCode = coordinator
		return r
	default:
		r := q.ResponseKind().(*kmsg.EndTxnResponse)
		r.ErrorCode = coordinator
		return r
	}
}
