package reload

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"brine/config"
)

// Reader is the configuration by which a half reads. Commits note it (ingest.Taken), so that members that have not been reloaded yet leave
// alone what others already read by the new configuration.
type Reader struct {
	Meaning string    // see MeaningOf
	Since   time.Time // when a reload brought it; zero: it is that of a start
	Before  string    // set as long as it is only announced: what has read up to the commit, and no mark says so yet
}

// String returns the note: the meaning, and the time in milliseconds. An older brine takes an announcement for another reader, newer than
// itself.
func (r Reader) String() string {
	if r.Since.IsZero() {
		return r.Meaning
	}
	text := r.Meaning + "@" + strconv.FormatInt(r.Since.UnixMilli(), 10)
	if r.Before != "" {
		text = r.Before + ">" + text
	}
	return text
}

// ParseReader parses a note. What is no note is a meaning that no half has.
func ParseReader(text string) Reader {
	meaning, at, reloaded := strings.Cut(text, "@")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !reloaded || err != nil {
		return Reader{Meaning: text}
	}
	r := Reader{Meaning: meaning, Since: time.UnixMilli(ms)}
	if before, announced, ok := strings.Cut(meaning, ">"); ok {
		r.Before, r.Meaning = before, announced
	}
	return r
}

// For returns the reader under the names that this version gives to what the half makes of records, where it is the half's.
func (r Reader) For(h config.Half) Reader {
	for _, name := range []*string{&r.Meaning, &r.Before} {
		if *name != "" && !Stored(*name) && Means(h, *name) {
			*name = MeaningOf(h)
		}
	}
	return r
}

// Last returns the meaning by which the records before the commit were last read.
func (r Reader) Last() string { return cmp.Or(r.Before, r.Meaning) }
