package former

import (
	"cmp"
	"math"

	"brine/config"
	"brine/ingest/control"
	"brine/ingest/eras"
	"brine/service/reload"
)

// Commit is the last commit of a partition, and who reads it: see ingest.NotedReader.
type Commit struct {
	Offset int64
	Reader string
}

// place is a partition that a group reads.
type place struct {
	group, topic string
	partition    int
}

// Committed notes what the group of a half, which reads a single topic, has committed in a partition.
func (n *Notes) Committed(h config.Half, partition int, c Commit) {
	if n.commits == nil {
		n.commits = map[place]Commit{}
	}
	n.commits[place{h.Group(), h.Pipeline.Topic, partition}] = c
}

// reader returns who reads a partition by another configuration than the half's, which the partition's marks do not say: the configuration
// asked about is in a file that brine has not been started or reloaded with. It returns nil if the half's configuration reads it, or if
// nobody has noted who does.
func (n *Notes) reader(h config.Half, partition int, marks []control.Mark) (*reload.Reader, int64) {
	c, committed := n.commits[place{h.Group(), h.Pipeline.Topic, partition}]
	if !committed || c.Reader == "" {
		return nil, 0
	}
	r := reload.ParseReader(c.Reader)
	if _, known := n.kept[r.Last()]; !known && r.Before == "" && !reload.Stored(r.Last()) {
		return nil, 0 // an earlier version, which calls the same configuration otherwise
	}
	r.Meaning = n.nameOf(r.Meaning, h)
	if r.Before != "" {
		r.Before = n.nameOf(r.Before, h)
	}
	now := reload.MeaningOf(h)
	if r.Last() == now && r.Meaning == now {
		return nil, 0
	}
	if len(marks) > 0 {
		if last := marks[len(marks)-1]; last.Offset >= c.Offset && last.Is != r.Last() {
			return nil, 0 // the mark is newer than the commit
		}
	}
	return &r, c.Offset
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
		default:
			add(partition, was, committed)
		}
	}
	if r.Meaning != now {
		h.elsewhere = true
		add(partition, r.Meaning, math.MaxInt64)
	}
}
