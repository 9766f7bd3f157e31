package main

import "fmt"

// replayResult is the JSON line of a replay that is done.
type replayResult struct {
	Pipeline string  `json:"pipeline"` // pipeline.half
	Replayed int64   `json:"replayed"` // records settled by this process
	Retries  int64   `json:"retries"`
	Dead     int64   `json:"dead_letters"`
	Gone     int64   `json:"gone"` // left the topic after the plan was made
	Seconds  float64 `json:"seconds"`
	Finished bool    `json:"finished"`
}

func (s *replayScreen) result(r *replay) {
	h := r.half
	result := replayResult{r.name, h.settled.Load(), h.retries.Load(), h.dead.Load(), r.gone.Load(), r.took.Seconds(), true}
	if s.json {
		s.object(result)
		return
	}
	fmt.Fprintf(s.out, "%s: done: %s records replayed in %v (%s/s), retries %d, dead letters %d\n", r.name, thousands(result.Replayed),
		clock(result.Seconds), thousands(int64(float64(result.Replayed)/result.Seconds)), result.Retries, result.Dead)
}
