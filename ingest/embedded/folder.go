package embedded

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/datadir"
)

// A data folder of kfake: the cluster's state in files of JSON and in two logs, and a folder of segments for each partition.
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

var folderLayout = datadir.Layout{"*.json", "*.log", "*.tmp", partitionsDir, partitionsDir + "/*", partitionsDir + "/*/*"}

// open readies a folder for kfake, which reads a log up to the first byte that it does not understand and cuts off the rest. What was
// acknowledged must be there; what a process that was killed had not finished is taken away.
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
	for _, base := range segments {
		if err := openSegment(base); err != nil {
			return err
		}
	}
	return checkSnapshots(dir)
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
			return datadir.Damaged(path, "it is no JSON")
		}
	}
	for _, name := range stateLogs {
		path := filepath.Join(dir, name)
		log, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if to, then := readableTo(log); then == broken {
			return datadir.Damaged(path, "its bytes from %d on are not those that were written", to)
		}
	}
	return checkTopics(dir)
}

// checkTopics holds the folders of partitions against the topics: kfake passes over one that belongs to none.
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
	topics := filepath.Join(dir, topicsFile)
	text, err := os.ReadFile(topics)
	if errors.Is(err, fs.ErrNotExist) {
		return datadir.Damaged(topics, "it is missing")
	}
	var is struct {
		Topics []struct {
			Name       string
			ID         []byte
			Partitions int
		}
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return datadir.Damaged(topics, "%v", err)
	}
	known := map[string]bool{}
	for _, topic := range is.Topics {
		for p := range topic.Partitions {
			known[url.PathEscape(topic.Name)+"-"+strconv.Itoa(p)] = true
		}
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			return datadir.Damaged(topics, "it does not name the topic of %s", filepath.Join(dir, partitionsDir, entry.Name()))
		}
	}
	return nil
}

// partitionFiles returns the segments of all partitions, each as its path without a suffix, in the order of their offsets.
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

// baseOf is the first offset of a segment.
func baseOf(segment string) int64 {
	n, _ := strconv.ParseInt(filepath.Base(segment), 10, 64) // kfake passes over others
	return n
}

// openSegment reads a segment through. Its index says how many batches were acknowledged: what lacks of one behind them is cut off, and
// an index that has come less far is completed.
func openSegment(path string) error {
	segment, err := os.ReadFile(path + segmentSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return datadir.Damaged(path+segmentSuffix, "it is missing")
	}
	if err != nil {
		return err
	}
	index, err := os.ReadFile(path + indexSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	batches, to, then := readBatches(segment, baseOf(path))
	if then == broken {
		return datadir.Damaged(path+segmentSuffix, "its bytes from %d on are no batch of records", to)
	}
	if had := len(index) / entryBytes; had > len(batches) {
		return datadir.Damaged(path+segmentSuffix, "%d batches of records were written, and %d are there", had, len(batches))
	}
	if then == torn {
		if err := os.Truncate(path+segmentSuffix, int64(to)); err != nil {
			return err
		}
	}
	if done := completeIndex(index, batches); !bytes.Equal(done, index) {
		return datadir.Replace(filepath.Dir(path), filepath.Base(path)+indexSuffix, done)
	}
	return nil
}

// checkSnapshots holds what kfake noted about a partition when it last ended in order against its segments, where it would believe it.
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
			continue // it is older than they are
		}
		batches, _, _ := readBatches(segment, last.Base)
		if n := len(batches); n > 0 && is.HighWatermark != batches[n-1].last+1 {
			return datadir.Damaged(path, "it says that the partition ends at offset %d, and it ends at %d", is.HighWatermark, batches[n-1].last+1)
		}
	}
	return nil
}
