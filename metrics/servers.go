package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// byServer is a histogram with one series for each of the last used servers, at most topServers. As long as a process runs, servers come
// and go with new addresses.
type byServer struct {
	vec *prometheus.HistogramVec // by server

	mu    sync.Mutex
	known map[string]*serverSeries
	used  int64 // number of uses
}

type serverSeries struct {
	prometheus.Observer
	last int64 // number of the last use
}

func newByServer() *byServer {
	return &byServer{known: map[string]*serverSeries{}, vec: prometheus.NewHistogramVec(timing("brine_hbase_server_call_duration_seconds",
		"Time from sending a mutation call to its answer, by region server, for the most recently used servers.",
		[]float64{.001, .0025, .005, .01, .025, .1, .5, 5}), []string{"server"})}
}

// of returns a server's series. The series that was unused for longest makes room for a new one.
func (b *byServer) of(server string) prometheus.Observer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used++
	s := b.known[server]
	if s == nil {
		if len(b.known) == topServers {
			b.dropOldest()
		}
		s = &serverSeries{Observer: b.vec.WithLabelValues(label(server))}
		b.known[server] = s
	}
	s.last = b.used
	return s.Observer
}

func (b *byServer) dropOldest() {
	oldest, last := "", b.used
	for name, s := range b.known {
		if s.last < last {
			oldest, last = name, s.last
		}
	}
	delete(b.known, oldest)
	b.vec.DeleteLabelValues(label(oldest))
}
