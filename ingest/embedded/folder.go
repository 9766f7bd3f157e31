package embedded

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/datadir"
)

// A data folder of kfake: the cluster's state in JSON files and two logs, and a folder of segments for each partition.
const (
	metaFile       = "meta.json"
	topicsFile     = "topics.json"
	snapshotFile   = "snapshot.json"
	partitionsDir  = "partitions"
	segmentSuffix  = ".dat"
	indexSuffix    = ".idx"
	partitionsEach = "*"
)

var (
	stateFiles = []string{metaFile, topicsFile, "broker_configs.json", "acls.json", "sasl.json", "quotas.json", "seq_windows.json"}
	stateLogs  = []string{"groups.log", "pids.log"}
)

var folderLayout = datadir.Layout{"*.json", "*.log", "*.tmp", partitionsDir, partitionsDir + "/*", partitionsDir + "/*/*",
	acknowledgedDir, acknowledgedDir + "/*"}

// open prepares a folder for kfake, which reads a log up to the first byte that it does not understand and cuts off the rest. open verifies
// that everything acknowledged is there, and removes what a killed process had not finished.
func open(dir string) error {
	if err := folderLayout.Make(dir); err != nil {
		return err
	}
	sealed, err := datadir.Unseal(dir)
	if sealed || err != nil {
		return err
	}
	if err := checkState(dir); err != nil {
		return err
	}
	segments, err := partitionFiles(dir)
	if err != nil {
		return err
	}
	opened := make([]segment, len(segments))
	parts := map[string][]batch{}
	for i, path := range segments {
		if opened[i], err = readSegment(path); err != nil {
			return err
		}
		name := filepath.Base(filepath.Dir(path))
		parts[name] = append(parts[name], opened[i].batches...)
	}
	if err := checkSnapshots(dir); err != nil {
		return err
	}
	if err := checkAcknowledged(dir, parts); err != nil {
		return err
	}
	for i := range opened {
		if err := opened[i].complete(); err != nil {
			return err
		}
	}
	return nil
}

// checkState reads the files of the cluster's state.
func checkState(dir string) error {
	for _, name := range stateFiles {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !json.Valid(text) {
			return datadir.Damaged(path, "it is not valid JSON")
		}
	}
	for _, name := range stateLogs {
		path := filepath.Join(dir, name)
		log, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if to, then := readableTo(log); then == broken {
			return datadir.Damaged(path, "its bytes from %d on differ from those written", to)
		}
	}
	return checkTopics(dir)
}

// checkTopics compares the partitions' folders with the topics: kfake ignores a folder that belongs to none.
func checkTopics(dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, partitionsDir))
	if len(entries) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, metaFile)); err != nil {
		return datadir.Damaged(filepath.Join(dir, metaFile), "it is missing")
	}
	topics, err := readTopics(dir)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for name, topic := range topics {
		for p := range topic.Partitions {
			known[partitionName(name, int32(p))] = true
		}
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			return datadir.Damaged(filepath.Join(dir, topicsFile), "it does not name the topic of %s",
				filepath.Join(dir, partitionsDir, entry.Name()))
		}
	}
	return nil
}

// topicState is what kfake stores of a topic.
type topicState struct {
	Name       string
	ID         []byte
	Partitions int
	Configs    map[string]string
}

func (t topicState) compacted() bool {
	return strings.Contains(t.Configs["cleanup.policy"], "compact")
}

// readTopics returns the topics by name. A new folder has none.
func readTopics(dir string) (map[string]topicState, error) {
	path := filepath.Join(dir, topicsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, datadir.Damaged(path, "it is missing")
	}
	if err != nil {
		return nil, err
	}
	var is struct{ Topics []topicState }
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, datadir.Damaged(path, "%v", err)
	}
	topics := map[string]topicState{}
	for _, t := range is.Topics {
		topics[t.Name] = t
	}
	return topics, nil
}

// partitionFiles returns the segments of all partitions as paths without a suffix, in offset order.
func partitionFiles(dir string) (segments []string, err error) {
	for _, suffix := range []string{segmentSuffix, indexSuffix} {
		paths, err := filepath.Glob(filepath.Join(datadir.EscapeGlob(dir), partitionsDir, partitionsEach, "*"+suffix))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			segments = append(segments, strings.TrimSuffix(path, suffix))
		}
	}
	slices.SortFunc(segments, func(a, b string) int {
		if c := strings.Compare(filepath.Dir(a), filepath.Dir(b)); c != 0 {
			return c
		}
		return int(min(max(baseOf(a)-baseOf(b), -1), 1))
	})
	return slices.Compact(segments), nil
}

// baseOf returns the first offset of a segment.
func baseOf(segment string) int64 {
	n, _ := strconv.ParseInt(filepath.Base(segment), 10, 64) // kfake ignores others
	return n
}

// segment is the contents of a segment.
type segment struct {
	path    string // without a suffix
	batches []batch
	to      int  // bytes of the complete batches
	torn    bool // an incomplete batch follows
	index   []byte
}

// readSegment reads a segment through. Its index has one entry per acknowledged batch.
func readSegment(path string) (segment, error) {
	file, err := os.ReadFile(path + segmentSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return segment{}, datadir.Damaged(path+segmentSuffix, "it is missing")
	}
	if err != nil {
		return segment{}, err
	}
	index, err := os.ReadFile(path + indexSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return segment{}, err
	}
	batches, to, then := readBatches(file, baseOf(path))
	if then == broken {
		return segment{}, datadir.Damaged(path+segmentSuffix, "its bytes from %d on are not a record batch", to)
	}
	if had := len(index) / entryBytes; had > len(batches) {
		return segment{}, datadir.Damaged(path+segmentSuffix, "%d record batches were written, but only %d are there", had, len(batches))
	}
	return segment{path: path, batches: batches, to: to, torn: then == torn, index: index}, nil
}

// complete cuts off an incomplete batch after the acknowledged ones, and completes an index that lags behind.
func (s *segment) complete() error {
	if s.torn {
		if err := os.Truncate(s.path+segmentSuffix, int64(s.to)); err != nil {
			return err
		}
	}
	if done := completeIndex(s.index, s.batches); !bytes.Equal(done, s.index) {
		return datadir.Replace(filepath.Dir(s.path), filepath.Base(s.path)+indexSuffix, done)
	}
	return nil
}

// checkSnapshots compares kfake's notes about a partition from its last orderly end with the segments, where kfake would trust the notes.
func checkSnapshots(dir string) error {
	paths, err := filepath.Glob(filepath.Join(datadir.EscapeGlob(dir), partitionsDir, partitionsEach, snapshotFile))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var is struct {
			HighWatermark int64 `json:"high_watermark"`
			Segments      []struct {
				Base int64 `json:"base_offset"`
				Size int64
			}
		}
		if json.Unmarshal(text, &is) != nil || len(is.Segments) == 0 {
			continue // kfake reads the segments
		}
		last := is.Segments[len(is.Segments)-1]
		segment, err := os.ReadFile(filepath.Join(filepath.Dir(path), strconv.FormatInt(last.Base, 10)+segmentSuffix))
		if err != nil || int64(len(segment)) != last.Size {
			continue // the snapshot is older than the segments
		}
		batches, _, _ := readBatches(segment, last.Base)
		if n := len(batches); n > 0 && is.HighWatermark != batches[n-1].last+1 {
			return datadir.Damaged(path, "it says that the partition ends at offset %d, but it ends at %d", is.HighWatermark, batches[n-1].last+1)
		}
	}
	return nil
}
