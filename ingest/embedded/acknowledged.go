package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/internal/datadir"
)

// A killed process leaves no inventory, and a partition's own files do not show that the last of them is missing. So a file outside the
// partition's folder records which offsets were acknowledged. It is written after the records are on disk and before the producer is
// answered, so it never claims more than must exist. It is not synced: an older version claims less.
//
// The same holds for the markers of a transaction that its producer ends: without a marker its records would count as those of a killed
// process. Markers of transactions that time out, and what retention has removed, are noted within lookEvery. Compacted topics have gaps
// and are not checked.

// acknowledgedDir is the folder of those files, which are named like the partitions' folders.
const acknowledgedDir = "acknowledged"

// extent is the range of offsets that a partition must have, from from up to end.
type extent struct{ from, end int64 }

// acknowledgements are the extents of a folder's partitions.
type acknowledgements struct {
	dir  string
	fail func(error)

	ends    chan chan struct{} // of transactions; closed once their markers are noted
	stopped chan struct{}      // closed when nobody notes any longer

	mu    sync.Mutex
	parts map[string]extent // by the name of the partition's folder
}

func newAcknowledgements(dir string, fail func(error)) (*acknowledgements, error) {
	if err := os.MkdirAll(filepath.Join(dir, acknowledgedDir), 0o700); err != nil {
		return nil, err
	}
	parts, err := readExtents(dir)
	return &acknowledgements{dir: dir, fail: fail, ends: make(chan chan struct{}), stopped: make(chan struct{}), parts: parts}, err
}

func partitionName(topic string, p int32) string {
	return url.PathEscape(topic) + "-" + strconv.Itoa(int(p))
}

// extentFormat has numbers of fixed width, because files are overwritten in place.
const extentFormat = "offsets %019d to %019d\n"

func (e extent) encode() []byte {
	text := fmt.Appendf(nil, extentFormat, e.from, e.end)
	return fmt.Appendf(text, "sum %08x\n", crc32.Checksum(text, castagnoli))
}

func decodeExtent(text []byte) (e extent, ok bool) {
	_, err := fmt.Sscanf(string(text), extentFormat, &e.from, &e.end)
	return e, err == nil && string(e.encode()) == string(text)
}

// readExtents reads the extents of a folder. A file that is empty or all zeros was not on disk yet when the machine went down.
func readExtents(dir string) (map[string]extent, error) {
	parts := map[string]extent{}
	entries, err := os.ReadDir(filepath.Join(dir, acknowledgedDir))
	if errors.Is(err, fs.ErrNotExist) {
		return parts, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, acknowledgedDir, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if e, ok := decodeExtent(text); ok {
			parts[entry.Name()] = e
		} else if len(text) != len(extent{}.encode()) && len(text) > 0 || !allZero(text) {
			return parts, datadir.Damaged(path, "it does not say which offsets were acknowledged")
		}
	}
	return parts, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// acknowledge notes that the partition has the batch that begins at offset base.
func (a *acknowledgements) acknowledge(topic string, p int32, base int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := partitionName(topic, p)
	e, known := a.parts[name]
	if !known {
		e.from = base
	}
	if known && base < e.end {
		return // answers of two connections arrive in any order
	}
	e.end = base + 1
	a.write(name, e)
}

// write writes an extent. The caller holds a.mu.
func (a *acknowledgements) write(name string, e extent) {
	a.parts[name] = e
	f, err := os.OpenFile(filepath.Join(a.dir, acknowledgedDir, name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(e.encode())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		a.fail(err)
	}
}

// forget drops the extents of partitions whose records may be removed.
func (a *acknowledgements) forget(which func(topic string, p int32) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.parts {
		if topic, p, ok := partitionOf(name); ok && which(topic, int32(p)) {
			delete(a.parts, name)
			if err := os.Remove(filepath.Join(a.dir, acknowledgedDir, name)); err != nil {
				a.fail(err)
			}
		}
	}
}

// look notes what retention has removed, and the markers of transactions.
func (a *acknowledgements) look(c *kfake.Cluster) {
	a.mu.Lock()
	names := slices.Collect(maps.Keys(a.parts))
	a.mu.Unlock()
	for _, name := range names {
		topic, p, _ := partitionOf(name)
		if is := c.PartitionInfo(topic, int32(p)); is != nil {
			a.seen(name, extent{is.LogStartOffset, is.HighWatermark})
		}
	}
}

// noteEnds notes the markers of transactions as they end, until ctx is done.
func (a *acknowledgements) noteEnds(ctx context.Context, c *kfake.Cluster) {
	defer close(a.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case noted := <-a.ends:
			a.look(c)
			close(noted)
		}
	}
}

// ended returns once the markers of an ended transaction are noted. It must not be called on kfake's own goroutine, which has to answer.
func (a *acknowledgements) ended() {
	noted := make(chan struct{})
	select {
	case a.ends <- noted:
		<-noted
	case <-a.stopped:
	}
}

// seen notes the extent that a partition has now.
func (a *acknowledgements) seen(name string, is extent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, ok := a.parts[name]
	if now := (extent{max(e.from, is.from), max(e.end, is.end)}); ok && now != e {
		a.write(name, now)
	}
}

// request notes what a request may remove, before kfake sees it.
func (a *acknowledgements) request(q kmsg.Request, body []byte) {
	switch q.(type) {
	case *kmsg.DeleteTopicsRequest, *kmsg.DeleteRecordsRequest:
	default:
		return
	}
	if q.ReadFrom(body) != nil {
		return // kfake cannot read it either
	}
	switch q := q.(type) {
	case *kmsg.DeleteTopicsRequest:
		for _, t := range q.Topics {
			a.forget(func(topic string, _ int32) bool { return t.Topic == nil || *t.Topic == topic }) // an id may belong to any topic
		}
		a.forget(func(topic string, _ int32) bool { return slices.Contains(q.TopicNames, topic) })
	case *kmsg.DeleteRecordsRequest:
		for _, t := range q.Topics {
			for _, d := range t.Partitions {
				a.forget(func(topic string, p int32) bool { return topic == t.Topic && p == d.Partition })
			}
		}
	}
}

// produced notes what an answer to a producer acknowledges, before the answer is sent.
func (a *acknowledgements) produced(r *kmsg.ProduceResponse) {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode == 0 && p.BaseOffset >= 0 {
				a.acknowledge(t.Topic, p.Partition, p.BaseOffset)
			}
		}
	}
}

// missing returns the first offset of e that is in none of a partition's batches, which are in order, and whether there is one.
func (e extent) missing(batches []batch) (first int64, missing bool) {
	next := e.from
	for _, b := range batches {
		if b.first > next {
			break
		}
		next = max(next, b.last+1)
	}
	return next, next < e.end
}

// checkAcknowledged compares the batches of the partitions, by folder name, with what was acknowledged. Batches of compacted topics may be
// gone, and so may those of deleted topics.
func checkAcknowledged(dir string, parts map[string][]batch) error {
	extents, err := readExtents(dir)
	if err != nil || len(extents) == 0 {
		return err
	}
	topics, err := readTopics(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(extents)) {
		topic, p, _ := partitionOf(name)
		if t, ok := topics[topic]; !ok || t.compacted() || p >= t.Partitions {
			continue
		}
		if at, missing := extents[name].missing(parts[name]); missing {
			return datadir.Damaged(filepath.Join(dir, partitionsDir, name), "records up to offset %d were acknowledged, but offset %d is missing",
				extents[name].end-1, at)
		}
	}
	return nil
}

// asked is a request to produce, or to end a transaction, that is not answered yet.
type asked struct {
	correlation  uint32
	key, version int16
}

// mostAsked exceeds the number of requests that kfake takes from a connection before it answers. Requests that want no answer are dropped
// when others arrive.
const mostAsked = 16

// ask notes a checked request.
func (c *guarded) ask(frame []byte, q kmsg.Request, body []byte) {
	if key := kmsg.Key(q.Key()); key != kmsg.Produce && key != kmsg.EndTxn {
		c.guard.acks.request(q, body)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked[max(0, len(c.asked)+1-mostAsked):], asked{binary.BigEndian.Uint32(frame[8:]), q.Key(), q.GetVersion()})
}

// acknowledge notes what an answer acknowledges.
func (c *guarded) acknowledge(frame []byte) {
	q, ok := c.answers(frame)
	if !ok {
		return
	}
	r := kmsg.ResponseForKey(q.key)
	r.SetVersion(q.version)
	body := frame[8:]
	if r.IsFlexible() && len(body) > 0 {
		body = body[1:] // the header has no tags
	}
	if r.ReadFrom(body) != nil {
		return
	}
	switch r := r.(type) {
	case *kmsg.ProduceResponse:
		c.guard.acks.produced(r)
	case *kmsg.EndTxnResponse:
		if r.ErrorCode == 0 {
			c.guard.acks.ended()
		}
	}
}

// answers returns the request that a frame answers, if any.
func (c *guarded) answers(frame []byte) (q asked, ok bool) {
	if len(frame) < 8 {
		return q, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.asked, func(a asked) bool { return a.correlation == binary.BigEndian.Uint32(frame[4:]) })
	if i < 0 {
		return q, false
	}
	q = c.asked[i]
	c.asked = c.asked[i+1:]
	return q, true
}
