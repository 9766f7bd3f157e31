package former

import (
	"cmp"
	"math"

	"brine/config"
	"brine/ingest/control"
	"brine/ingest/eras"
	"brine/service/reload"
)

// Commit is the last commit of a partition, who reads it, and whether its offset was set: see ingest.Taken.
type Commit struct {
	Offset int64
	Reader string
	Moved  bool
}

// by is by which configuration a partition is read, according to its last commit.
type by int

const (
	notSaid by = iota // nothing is committed, or a mark is newer
	asked             // the one asked about
	another
	uncertain // one of several
)

// groupPartition is a partition that a group reads.
type groupPartition struct {
	group, topic string
	partition    int
}

// Committed notes what the group of a half, which reads a single topic, has committed in a partition.
func (n *Notes) Committed(h config.Half, partition int, c Commit) {
	if n.commits == nil {
		n.commits = map[groupPartition]Commit{}
	}
	n.commits[groupPartition{h.Group(), h.Pipeline.Topic, partition}] = c
}

// reader returns by which configuration a partition is read. If it is another one than the half's, which the partition's marks do not say,
// it returns who reads, and the committed offset: the configuration asked about is in a file that brine has not been started or reloaded
// with. If a program that notes nothing has set the offset, any stored configuration may have read what lies behind it. And if the offset
// was set after a reload was announced that no mark follows, it does not say up to where the former configuration has read.
func (n *Notes) reader(h config.Half, partition int, marks []control.Mark) (by, *reload.Reader, int64) {
	c, committed := n.commits[groupPartition{h.Group(), h.Pipeline.Topic, partition}]
	switch {
	case !committed:
		return notSaid, nil, 0
	case c.Reader == "" && n.Otherwise(h):
		return uncertain, nil, 0
	case c.Reader == "":
		return notSaid, nil, 0
	}
	r := reload.ParseReader(c.Reader)
	if _, known := n.kept[r.Last()]; !known && r.Before == "" && !reload.Stored(r.Last()) {
		return notSaid, nil, 0 // an earlier version, which calls the same configuration otherwise
	}
	r.Meaning = n.nameOf(r.Meaning, h)
	if r.Before != "" {
		r.Before = n.nameOf(r.Before, h)
	}
	now := reload.MeaningOf(h)
	switch {
	case r.Last() == now && r.Meaning == now:
		return asked, nil, 0
	case c.Moved && r.Before != "":
		return uncertain, nil, 0
	}
	if len(marks) > 0 {
		if last := marks[len(marks)-1]; last.Offset >= c.Offset && last.Is != r.Last() {
			return notSaid, nil, 0 // the mark is newer than the commit
		}
	}
	return another, &r, c.Offset
}

// readBy adds the eras of a partition behind its marks, which end at end: until the commit it was read by the configuration before the
// commit, and from there on it is read by the one that the commit names.
func (h *Half) readBy(r *reload.Reader, partition int, committed, end int64, lastIs, now string, add func(int, string, int64)) {
	if committed > end {
		switch was := r.Last(); {
		case cmp.Or(lastIs, was) != was:
			add(partition, unknown, committed)
		case was == now:
			h.Add(partition, eras.Era{Until: committed, Reading: eras.Present})
		case was != r.Meaning: // or it is all one era, whose end does not move with each commit
			add(partition, was, committed)
		}
	}
	if r.Meaning != now {
		h.elsewhere = true
		add(partition, r.Meaning, math.MaxInt64)
	}
}
