package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reload holds the metrics of reloads of the configuration.
type Reload struct {
	reloads          *prometheus.CounterVec
	successful, last prometheus.Gauge
}

// The results of a reload, as in service/reload. A reload that was only previewed counts too.
const (
	reloadApplied   = "applied"
	reloadUnchanged = "unchanged"
	reloadRefused   = "refused"
	reloadPreview   = "preview"
)

// NewReload registers the metrics of reloads. The configuration was first loaded at at.
func NewReload(reg prometheus.Registerer, at time.Time) *Reload {
	m := &Reload{
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_reload_total", Help: "Requested reloads of the configuration, by result."}, []string{"result"}),
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "brine_config_last_reload_successful", Help: "1 if the last reload was done or had nothing to do, 0 if it was refused."}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "brine_config_last_reload_success_timestamp_seconds",
			Help: "When the configuration was last loaded and applied, or found unchanged."}),
	}
	for _, result := range []string{reloadApplied, reloadUnchanged, reloadRefused, reloadPreview} {
		m.reloads.WithLabelValues(result)
	}
	m.successful.Set(1)
	m.last.Set(seconds(at))
	reg.MustRegister(m.reloads, m.successful, m.last)
	return m
}

// Done counts a reload.
func (m *Reload) Done(result string, at time.Time) {
	m.reloads.WithLabelValues(result).Inc()
	switch result {
	case reloadApplied, reloadUnchanged:
		m.successful.Set(1)
		m.last.Set(seconds(at))
	case reloadRefused:
		m.successful.Set(0)
	}
}

func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
