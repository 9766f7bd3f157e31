package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/datadir"
)

// Repaired is the result of Repair.
type Repaired struct {
	Damage error // nil: nothing was damaged, and Repair did nothing

	Records int64    // saved, including markers of transactions
	Lost    []string // what could not be saved, a line per damaged file
}

// Repair reads a data folder through. If it is damaged, Repair moves it to aside, which must not exist, and makes a new one of what can be
// read. It changes or deletes no file. Records keep their offsets. Committed offsets of groups are left behind, because new records may get
// the offsets of lost ones: groups start as if they had committed nothing.
func Repair(dir, aside string) (r Repaired, err error) {
	if r.Damage = open(dir); r.Damage == nil {
		return r, folderLayout.Seal(dir)
	}
	if !errors.Is(r.Damage, ErrDamaged) {
		return Repaired{}, r.Damage
	}
	if err := os.Rename(dir, aside); err != nil {
		return r, err
	}
	s := salvage{from: aside, to: dir, saved: &r}
	return r, s.all()
}

// salvage copies what can be read of a folder.
type salvage struct {
	from, to string
	saved    *Repaired
}

func (s *salvage) lose(path, format string, args ...any) {
	name, err := filepath.Rel(s.from, path)
	if err != nil {
		name = path
	}
	s.saved.Lost = append(s.saved.Lost, name+": "+fmt.Sprintf(format, args...))
}

func (s *salvage) all() error {
	if err := folderLayout.Make(s.to); err != nil {
		return err
	}
	for _, name := range stateFiles {
		if name != topicsFile && name != metaFile {
			if err := s.state(name); err != nil {
				return err
			}
		}
	}
	if err := s.topics(); err != nil {
		return err
	}
	segments, err := partitionFiles(s.from)
	if err != nil {
		return err
	}
	saved := map[string]extent{} // by the names of the partitions' folders
	for _, path := range segments {
		if err := s.segment(path, saved); err != nil {
			return err
		}
	}
	if err := s.ends(saved); err != nil {
		return err
	}
	// kfake takes a folder for its own if this file exists
	return s.json(metaFile, map[string]any{"version": entryFormat, "cluster_id": "brine"})
}

// state copies a file of the cluster's state.
func (s *salvage) state(name string) error {
	path := filepath.Join(s.from, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !json.Valid(text) {
		s.lose(path, "all of it; its contents are those of a new Kafka")
		return nil
	}
	return datadir.Replace(s.to, name, text)
}

func (s *salvage) json(name string, v any) error {
	text, err := json.Marshal(v)
	return errors.Join(err, datadir.Replace(s.to, name, text))
}

// topics writes the topics: those that are known, and those that have partitions.
func (s *salvage) topics() error {
	path := filepath.Join(s.from, topicsFile)
	var is struct {
		Version int              `json:"version"`
		Topics  []map[string]any `json:"topics"`
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &is) != nil {
		s.lose(path, "the settings of all topics")
	}
	is.Version = entryFormat
	entries, err := os.ReadDir(filepath.Join(s.from, partitionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	partitions := map[string]int{}
	for _, entry := range entries {
		if topic, p, ok := partitionOf(entry.Name()); ok {
			partitions[topic] = max(partitions[topic], p+1)
		}
	}
	is.Topics = slices.DeleteFunc(is.Topics, func(t map[string]any) bool {
		name, _ := t["name"].(string)
		n, _ := t["partitions"].(float64)
		least, has := partitions[name]
		delete(partitions, name)
		t["partitions"] = max(int(n), least)
		if !isID(t["id"]) {
			s.lose(path, "the id of topic %s", name)
			t["id"] = newID()
		}
		return name == "" || !has && n < 1
	})
	for name, n := range partitions {
		if len(text) > 0 {
			s.lose(path, "the settings of topic %s", name)
		}
		is.Topics = append(is.Topics, map[string]any{"name": name, "id": newID(), "partitions": n, "replicas": 1})
	}
	return s.json(topicsFile, is)
}

const idBytes = 16

func newID() []byte {
	id := make([]byte, idBytes)
	rand.Read(id)
	return id
}

// isID reports whether v is a topic's id, in base64.
func isID(v any) bool {
	text, _ := v.(string)
	id, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(id) == idBytes
}

// partitionOf parses the name of a partition's folder.
func partitionOf(name string) (topic string, p int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", 0, false
	}
	topic, err := url.PathUnescape(name[:i])
	p, errP := strconv.Atoi(name[i+1:])
	return topic, p, err == nil && errP == nil && p >= 0
}

// segment copies the readable batches of a segment.
func (s *salvage) segment(path string, parts map[string]extent) error {
	segment, err := os.ReadFile(path + segmentSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		s.lose(path+segmentSuffix, "it is missing")
		return nil
	}
	if err != nil {
		return err
	}
	name, next := filepath.Base(filepath.Dir(path)), baseOf(path)
	part, known := parts[name]
	if !known {
		part.from = next
	} else if next > part.end {
		s.lose(path+segmentSuffix, "offsets %d to %d before it", part.end, next-1)
	}
	saved, batches := s.batches(path, segment, &next)
	if index, err := os.ReadFile(path + indexSuffix); err == nil && len(index)/entryBytes > len(batches) {
		s.lose(path+segmentSuffix, "%d of its %d batches of records", len(index)/entryBytes-len(batches), len(index)/entryBytes)
	}
	part.end = next
	parts[name] = part
	to := filepath.Join(s.to, partitionsDir, name)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	return errors.Join(datadir.Replace(to, filepath.Base(path)+segmentSuffix, saved),
		datadir.Replace(to, filepath.Base(path)+indexSuffix, completeIndex(nil, batches)))
}

// batches returns the batches of a segment from offset next on, and advances next. After bytes that are not a batch it looks for the next
// one.
func (s *salvage) batches(path string, segment []byte, next *int64) (saved []byte, batches []batch) {
	for at := 0; at < len(segment); {
		b, is := nextBatch(segment[at:])
		if is != whole || b.first < *next {
			at++
			continue
		}
		if b.first > *next {
			s.lose(path+segmentSuffix, "offsets %d to %d", *next, b.first-1)
		}
		s.saved.Records += b.last - b.first + 1
		saved, batches = append(saved, segment[at:at+b.bytes]...), append(batches, b)
		at, *next = at+b.bytes, b.last+1
	}
	return saved, batches
}

// ends names the offsets that are known to have existed before the first and after the last saved one.
func (s *salvage) ends(saved map[string]extent) error {
	acknowledged, err := readExtents(s.from)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if damage, ok := errors.AsType[*datadir.Damage](err); ok {
		s.lose(damage.File, "which offsets the partition had")
	}
	snapshots, err := filepath.Glob(filepath.Join(datadir.EscapeGlob(s.from), partitionsDir, partitionsEach, snapshotFile))
	if err != nil {
		return err
	}
	for _, path := range snapshots {
		name := filepath.Base(filepath.Dir(path))
		var is struct {
			HighWatermark int64 `json:"high_watermark"`
		}
		if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &is) == nil {
			had, ok := acknowledged[name]
			if !ok {
				had.from = saved[name].from // its beginning is not known
			}
			acknowledged[name] = extent{had.from, max(had.end, is.HighWatermark)}
		}
	}
	for name, had := range acknowledged {
		s.loseOutside(filepath.Join(s.from, partitionsDir, name), had, saved[name])
	}
	slices.Sort(s.saved.Lost)
	return nil
}

// loseOutside names the offsets of a partition outside the saved range.
func (s *salvage) loseOutside(dir string, had, saved extent) {
	if had.from < min(saved.from, had.end) {
		s.lose(dir, "offsets %d to %d", had.from, min(saved.from, had.end)-1)
	}
	if had.end > max(saved.end, had.from) {
		s.lose(dir, "offsets %d to %d", max(saved.end, had.from), had.end-1)
	}
}
