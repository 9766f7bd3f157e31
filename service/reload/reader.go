package reload

import (
	"strconv"
	"strings"
	"time"
)

// Reader is the configuration by which a half reads. Commits note it (ingest.Taken), so that members that have not been reloaded yet leave
// alone what others already read by the new configuration.
type Reader struct {
	Meaning string    // see MeaningOf
	Since   time.Time // when a reload brought it; zero: it is that of a start
}

// String returns the note: the meaning, and the time in milliseconds.
func (r Reader) String() string {
	if r.Since.IsZero() {
		return r.Meaning
	}
	return r.Meaning + "@" + strconv.FormatInt(r.Since.UnixMilli(), 10)
}

// ParseReader parses a note. What is no note is a meaning that no half has.
func ParseReader(text string) Reader {
	meaning, at, reloaded := strings.Cut(text, "@")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !reloaded || err != nil {
		return Reader{Meaning: text}
	}
	return Reader{meaning, time.UnixMilli(ms)}
}
