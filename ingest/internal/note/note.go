// Package note is the metadata of commits: who has read a partition, and how far it may be written.
package note

import (
	"strconv"
	"strings"

	"brine/ingest/internal/broker"
)

// Note is the metadata of a commit.
type Note struct {
	Reader   string // see ingest.Taken.Reader
	Over     bool   // whoever read the partition has given it up, and has said how far records were submitted:
	Reach    int64  // see ingest.Taken.Reach
	Rejected int    // records since the last one written
	Moved    bool   // nobody has read up to the offset: it was set
	Topic    string // the topic's mark
}

const (
	readerMark   = "reader="
	reachMark    = "reach="
	rejectedMark = "rejected="
	movedMark    = "moved"
)

// String returns the metadata. The topic's mark comes last, so that a version that does not know what precedes it does not take the two for
// another topic's mark.
func (n Note) String() string {
	parts := make([]string, 0, 5)
	if n.Reader != "" {
		parts = append(parts, readerMark+n.Reader)
	}
	if n.Over {
		parts = append(parts, reachMark+strconv.FormatInt(n.Reach, 10))
	}
	if n.Rejected > 0 {
		parts = append(parts, rejectedMark+strconv.Itoa(n.Rejected))
	}
	if n.Moved {
		parts = append(parts, movedMark)
	}
	if n.Topic != "" {
		parts = append(parts, n.Topic)
	}
	return strings.Join(parts, " ")
}

// Ours returns what the loop itself notes, without the topic.
func (n Note) Ours() Note {
	n.Topic = ""
	return n
}

// Read parses a note. What other programs have written is all mark.
func Read(text string) (n Note) {
	if rest, ok := strings.CutPrefix(text, readerMark); ok {
		n.Reader, text, _ = strings.Cut(rest, " ")
	}
	if rest, ok := strings.CutPrefix(text, reachMark); ok {
		reach, mark, _ := strings.Cut(rest, " ")
		if parsed, err := strconv.ParseInt(reach, 10, 64); err == nil && parsed >= 0 {
			n.Over, n.Reach, text = true, parsed, mark
		}
	}
	if rest, ok := strings.CutPrefix(text, rejectedMark); ok {
		count, mark, _ := strings.Cut(rest, " ")
		if parsed, err := strconv.Atoi(count); err == nil && parsed > 0 {
			n.Rejected, text = parsed, mark
		}
	}
	if word, mark, _ := strings.Cut(text, " "); word == movedMark {
		n.Moved, text = true, mark
	}
	n.Topic = text
	return n
}

// Moved returns the note of a commit that moves a partition's offset, whatever is committed now. It says who has read the partition so far,
// and how far that may be written, if this is known of the topic as it is now.
func Moved(now broker.Commit, topic broker.Topic) Note {
	was := Read(now.Metadata)
	n := Note{Reader: was.Reader, Moved: true, Topic: topic.Mark()}
	if was.Over && !topic.Recreated(was.Topic) {
		n.Over, n.Reach = true, was.Reach
		if !was.Moved { // so it was read up to the offset
			n.Reach = max(was.Reach, now.Offset)
		}
	}
	return n
}
