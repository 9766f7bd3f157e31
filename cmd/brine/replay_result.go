package main

import "fmt"

// replayResult is the JSON line of a replay that is done.
type replayResult struct {
	Pipeline string  `json:"pipeline"` // pipeline.half
	Read     int64   `json:"read"`     // records settled by this process
	Replayed int64   `json:"replayed"` // those of them that were meant: of the keys, if some are given
	Retries  int64   `json:"retries"`
	Dead     int64   `json:"dead_letters"`
	Gone     int64   `json:"gone"` // left the topic after the plan was made
	Seconds  float64 `json:"seconds"`
	Finished bool    `json:"finished"`
}

func (s *replayScreen) result(r *replay) {
	h := r.half
	read := h.settled.Load()
	result := replayResult{r.name, read, read - h.became.leftOut.Load(), h.retries.Load(), h.dead.Load(), r.gone.Load(), r.took.Seconds(), true}
	if s.json {
		s.object(result)
		return
	}
	of := ""
	if result.Replayed < result.Read {
		of = fmt.Sprintf(" of %s that were read", thousands(result.Read))
	}
	fmt.Fprintf(s.out, "%s: done: %s%s replayed in %v (%s/s), retries %d, dead letters %d\n", r.name, count(int(result.Replayed), "record"), of,
		clock(result.Seconds), thousands(int64(float64(result.Read)/result.Seconds)), result.Retries, result.Dead)
}
