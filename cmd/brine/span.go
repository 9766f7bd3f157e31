package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/ingest"
	"brine/ingest/offsets"
	"brine/internal/when"
)

// span is the part of a topic that a replay reads.
type span struct {
	from, to   ingest.Position
	partitions []int // nil: all
	keys       [][]byte
	into       string // other tables, in words
}

// parseSpan reads a command line's range. Offsets name the partitions, unless they are named by themselves.
func parseSpan(from, to string, partitions []int) (span, error) {
	s := span{partitions: partitions}
	fromOffsets, err1 := parsePosition(&s.from, "--from", from)
	toOffsets, err2 := parsePosition(&s.to, "--to", to)
	if err := errors.Join(err1, err2); err != nil {
		return s, usage(err)
	}
	if strings.TrimSpace(to) == "earliest" {
		return s, usage(errors.New("--to earliest: nothing comes before the earliest record; --to is latest, a time or offsets"))
	}
	if strings.TrimSpace(from) == "latest" {
		return s, usage(errors.New("--from latest: nothing comes after the latest record; --from is earliest, a time or offsets"))
	}
	if s.partitions == nil {
		for p := range fromOffsets {
			s.partitions = append(s.partitions, p)
		}
	}
	if s.partitions == nil {
		for p := range toOffsets {
			s.partitions = append(s.partitions, p)
		}
	}
	slices.Sort(s.partitions)
	s.partitions = slices.Compact(s.partitions)
	return s, nil
}

// parsePosition reads earliest, latest, a time or offsets; offsets it gives as well.
func parsePosition(to *ingest.Position, flag, text string) (map[int]int64, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "earliest":
		*to = ingest.Earliest
		return nil, nil
	case "latest":
		*to = ingest.Latest
		return nil, nil
	}
	if t, err := when.Time(text, time.Now()); err == nil {
		if t.UnixMilli() < 0 {
			return nil, fmt.Errorf("%s %q: before 1970", flag, text)
		}
		*to = ingest.At(t.Truncate(time.Millisecond)) // as exact as Kafka's own
		return nil, nil
	}
	parsed, err := offsets.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w; write earliest, latest, a time such as 2013-01-31T08:00:00Z, how long ago, such as 2h, or offsets "+
			"such as 0:1200,1:900", flag, text, err)
	}
	*to = ingest.Offsets(parsed)
	return parsed, nil
}

// name is what progress is kept under when the user names nothing: the same range finds it again. The characters are those
// that are plain in a shell.
func (s span) name() string {
	text := s.from.String() + "_" + s.to.String()
	if s.partitions != nil {
		text += "_p" + strings.Trim(fmt.Sprint(s.partitions), "[]")
	}
	for _, key := range s.keys {
		text += "_k" + string(key)
	}
	if s.into != "" {
		text += "_into_" + s.into
	}
	return plainName(text)
}

// plainName makes a part of a group's name of any text: the characters are those that are plain in a shell, and a long one ends in a
// digest.
func plainName(text string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	const longest = 150 // leaves a group's name below the 249 that some tools take
	if len(plain) > longest {
		plain = fmt.Sprintf("%s-%x", plain[:longest-17], sha256.Sum256([]byte(text)))[:longest]
	}
	return plain
}
