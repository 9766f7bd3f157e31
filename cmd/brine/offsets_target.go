package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// target returns the offset that --to means, for each partition that it means.
func (c *offsetsSetCmd) target(ctx context.Context, g *liveGroup, client *kafka.Client) (map[int]int64, error) {
	to := strings.TrimSpace(c.To)
	file, saved := strings.CutPrefix(to, "file:")
	switch {
	case saved:
		return savedOffsets(file, g.name)
	case to == "earliest":
		return byPartition(g.earliest), nil
	case to == "latest":
		return byPartition(g.ends), nil
	case strings.HasPrefix(to, "+"), strings.HasPrefix(to, "-"):
		return g.shifted(to)
	}
	if offsets, err := parseOffsets(to); err == nil {
		for p := range offsets {
			if p >= len(g.ends) {
				return nil, &exitError{exitMissing, fmt.Errorf("--to: topic %q has no partition %d; it has %d", g.topic, p, len(g.ends)), ""}
			}
		}
		return offsets, nil
	}
	at, err := parseTime("--to", to, time.Now())
	if err != nil || to == "" {
		return nil, usage(fmt.Errorf("--to %q: write earliest, latest, a time such as 2013-01-31T08:00:00Z, how long ago, such as 2h, offsets such as 0:1200,1:900, +N, -N, or file:PATH", to))
	}
	return g.offsetsAt(ctx, client, at)
}

func byPartition(offsets []int64) map[int]int64 {
	out := map[int]int64{}
	for p, offset := range offsets {
		out[p] = offset
	}
	return out
}

// shifted is so many records behind or before where the group is, within the log.
func (g *liveGroup) shifted(by string) (map[int]int64, error) {
	n, err := strconv.ParseInt(by, 10, 64)
	if err != nil {
		return nil, usage(fmt.Errorf("--to %q: write +N or -N with a number of records", by))
	}
	out := map[int]int64{}
	for p := range g.ends {
		at, _ := g.at(p)
		out[p] = min(max(at+n, g.earliest[p]), g.ends[p])
	}
	return out, nil
}

// offsetsAt asks for the first record of a time or later; where there is none it is the end.
func (g *liveGroup) offsetsAt(ctx context.Context, client *kafka.Client, at time.Time) (map[int]int64, error) {
	offsets, err := offsetsAt(ctx, client, g.topic, len(g.ends), at)
	if err != nil {
		return nil, kafkaError(err)
	}
	out := byPartition(g.ends)
	for p, offset := range offsets {
		if offset >= 0 {
			out[p] = offset
		}
	}
	return out, nil
}

// savedOffsets reads what show --json has printed of a group. Partitions without a commit are left as they are.
func savedOffsets(file, name string) (map[int]int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usage(fmt.Errorf("--to: %w", err))
	}
	defer f.Close()
	out, found := map[int]int64{}, 0
	lines := json.NewDecoder(f)
	for n := 1; ; n++ {
		var line offsetLine
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && line.Pipeline == "" {
			err = errors.New("it names no pipeline")
		}
		if err != nil {
			return nil, usage(fmt.Errorf("--to: %s: object %d is no line of brine offsets show --json: %w", file, n, err))
		}
		if line.Pipeline != name {
			continue
		}
		if found++; line.Committed != nil {
			out[line.Partition] = *line.Committed
		}
	}
	if found == 0 {
		return nil, usage(fmt.Errorf("--to: %s holds nothing of %s; choose the pipelines that it was saved of with --pipeline and --half", file, name))
	}
	return out, nil
}
