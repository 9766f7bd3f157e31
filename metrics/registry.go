package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/registry"
)

// cached is the result for a schema that was read from the folder registry.cache.
const cached = "cached"

// Registry registers the metrics of a client of the schema registry, and returns the hooks that feed them.
func Registry(reg prometheus.Registerer) registry.Hooks {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_registry_schemas_total",
		Help: "Lookups of schemas that were not in memory, by result: found, cached (read from the folder registry.cache, without a " +
			"request), unknown, retry (no answer, or no usable one) and denied.",
	}, []string{"result"})
	results := []string{cached, registry.Outcome(0).String(), registry.Unknown.String(), registry.Retry.String(), registry.Denied.String()}
	for _, result := range results { // as in zero.go
		requests.WithLabelValues(result)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	schemas := gauge("brine_registry_cached_schemas", "Schemas of the registry that are in memory.")
	bytes := gauge("brine_registry_cached_bytes", "Bytes of the schemas that are in memory.")
	files := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "brine_registry_cache_failures_total", Help: "Files of registry.cache that could not be read or written."})
	away := &outage{now: time.Now}
	reg.MustRegister(requests, schemas, bytes, files, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "brine_registry_outage_seconds",
		Help: "Time for which the registry has not answered requests; 0 if it answered the last one.",
	}, away.seconds))
	return registry.Hooks{
		Fetched: func(i registry.FetchedInfo) {
			if i.FromDir {
				requests.WithLabelValues(cached).Inc()
				return
			}
			requests.WithLabelValues(i.Outcome.String()).Inc()
			away.answered(i.Outcome != registry.Retry && i.Outcome != registry.Denied)
		},
		Cached: func(i registry.CachedInfo) {
			schemas.Set(float64(i.Schemas))
			bytes.Set(float64(i.Bytes))
		},
		Kept: func(i registry.KeptInfo) {
			if i.Err != nil {
				files.Inc()
			}
		},
	}
}

// outage is the time since which the registry has not answered.
type outage struct {
	now func() time.Time

	mu    sync.Mutex
	since time.Time // guarded by mu; zero: the last request was answered
}

func (o *outage) answered(ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case ok:
		o.since = time.Time{}
	case o.since.IsZero():
		o.since = o.now()
	}
}

func (o *outage) seconds() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0
	}
	return o.now().Sub(o.since).Seconds()
}
