package offsets

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"brine/internal/when"
)

// ErrSyntax is in the chain of errors about a text that does not name offsets.
var ErrSyntax = errors.New("not offsets")

// Target returns the offsets that a text stands for, by partition. The text is earliest, latest, a time or how long ago, offsets such as
// 0:1200,1:900, or +N or -N offsets from where the group is, within the log.
func (c *Client) Target(ctx context.Context, g *Group, text string, now time.Time) (map[int]int64, error) {
	switch {
	case text == "earliest":
		return byPartition(g.Starts), nil
	case text == "latest":
		return byPartition(g.Ends), nil
	case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "-"):
		return g.shifted(text)
	}
	if offsets, err := Parse(text); err == nil {
		for p := range offsets {
			if p >= len(g.Ends) {
				return nil, g.noPartition(p)
			}
		}
		return offsets, nil
	}
	at, err := when.Time(text, now)
	if err != nil || text == "" {
		return nil, fmt.Errorf("write earliest, latest, a time such as 2013-01-31T08:00:00Z, how long ago, such as 2h, "+
			"offsets such as 0:1200,1:900, +N, -N, or file:PATH%w", silent{ErrSyntax})
	}
	return c.since(ctx, g, at)
}

// since returns the first record at or after a time, or the end if there is none.
func (c *Client) since(ctx context.Context, g *Group, at time.Time) (map[int]int64, error) {
	found, err := c.At(ctx, g.Topic, at)
	if err != nil {
		return nil, err
	}
	out := byPartition(g.Ends)
	for p, offset := range found {
		if offset >= 0 {
			out[p] = offset
		}
	}
	return out, nil
}

// shifted returns the offsets a number after or before where the group is, within the log.
func (g *Group) shifted(by string) (map[int]int64, error) {
	n, err := strconv.ParseInt(by, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("write +N or -N with a number of offsets%w", silent{ErrSyntax})
	}
	out := map[int]int64{}
	for p := range g.Ends {
		next, _ := g.Next(p)
		out[p] = min(max(next+n, g.Starts[p]), g.Ends[p])
	}
	return out, nil
}

func byPartition(offsets []int64) map[int]int64 {
	out := map[int]int64{}
	for p, offset := range offsets {
		out[p] = offset
	}
	return out
}

// Parse parses partition:offset,partition:offset,….
func Parse(text string) (map[int]int64, error) {
	offsets := map[int]int64{}
	for part := range strings.SplitSeq(text, ",") {
		p, o, ok := strings.Cut(strings.TrimSpace(part), ":")
		partition, err1 := strconv.ParseInt(p, 10, 32)
		offset, err2 := strconv.ParseInt(o, 10, 64)
		if !ok || err1 != nil || err2 != nil || partition < 0 || offset < 0 {
			return nil, fmt.Errorf("%q is not partition:offset", part)
		}
		if _, twice := offsets[int(partition)]; twice {
			return nil, fmt.Errorf("partition %d is named twice", partition)
		}
		offsets[int(partition)] = offset
	}
	return offsets, nil
}
