package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"brine/command"
	"brine/serve"
)

// Serve holds the metrics of the HTTP API.
type Serve struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	shed     prometheus.Counter
	cached   *prometheus.CounterVec
	commands *prometheus.GaugeVec
	oldest   prometheus.Gauge
}

// NewServe registers the metrics of the HTTP API, whose routes come from the configuration.
func NewServe(reg prometheus.Registerer) *Serve {
	m := &Serve{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "brine_serve_requests_total",
			Help: "Requests that the HTTP API has answered, by route and status; those without a route count as other."},
			[]string{"route", "status"}),
		duration: prometheus.NewHistogramVec(timing("brine_serve_request_duration_seconds",
			"Time from a request's header to the end of its answer.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}), []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "brine_serve_requests_in_flight", Help: "Requests in flight."}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{Name: "brine_serve_shed_requests_total",
			Help: "Requests that were refused because as many as allowed were already in flight."}),
		cached: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "brine_serve_cache_requests_total",
			Help: "Requests whose answer was looked up among recent ones (serve.cache), by result: hit or miss."}, []string{"result"}),
		commands: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "brine_serve_unpublished_commands",
			Help: "Commands that are accepted but not known to be in their topic, by what happens to them: waiting (brine tries to publish " +
				"them), or refused (the brokers refuse them, and brine looks for them in the topic)."}, []string{"what"}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{Name: "brine_serve_unpublished_commands_age_seconds",
			Help: "Time since the oldest command that is not known to be in its topic was accepted; 0 if there is none."}),
	}
	reg.MustRegister(m.requests, m.duration, m.inFlight, m.shed, m.cached, m.commands, m.oldest)
	return m
}

// Commands returns the hooks of the desk that accepts commands.
func (m *Serve) Commands() command.Hooks {
	return command.Hooks{Swept: func(i command.SweptInfo) {
		m.commands.WithLabelValues("waiting").Set(float64(i.Accepted - i.Withdrawn))
		m.commands.WithLabelValues("refused").Set(float64(i.Withdrawn))
		m.oldest.Set(i.Oldest.Seconds())
	}}
}

// Hooks returns the hooks of the API.
func (m *Serve) Hooks() serve.Hooks {
	return serve.Hooks{
		Begun: m.inFlight.Inc, Ended: m.inFlight.Dec, Shed: m.shed.Inc,
		Cached: func(hit bool) { m.cached.WithLabelValues(map[bool]string{true: "hit", false: "miss"}[hit]).Inc() },
		Answered: func(i serve.AnsweredInfo) {
			route := i.Route
			if route == "" || route == "/" {
				route = "other"
			}
			m.requests.WithLabelValues(route, strconv.Itoa(i.Status)).Inc()
			m.duration.WithLabelValues(route).Observe(i.Took.Seconds())
		},
	}
}
