package metrics

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/verify"
)

// Verify holds the metrics of verifications.
type Verify struct {
	read, compared, found *prometheus.CounterVec
	failed                prometheus.Counter
	last                  prometheus.Gauge
	proved                *prometheus.GaugeVec
	lastMS                atomic.Int64
	tables                sync.Map // tables that were compared
}

// NewVerify registers the metrics of verifications.
func NewVerify(reg prometheus.Registerer) *Verify {
	m := &Verify{
		read: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "brine_verify_records_total",
			Help: "Records that were read to be verified."}, []string{"pipeline"}),
		compared: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "brine_verify_rows_total",
			Help: "Rows or documents that were compared with the expected ones."}, []string{"table"}),
		found: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "brine_verify_findings_total",
			Help: "Findings by kind: " + verify.KindNames() + "."}, []string{"table", "kind"}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "brine_verify_failed_total",
			Help: "Verifications that could not be completed."}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{Name: "brine_verify_last_timestamp_seconds",
			Help: "When a verification was last completed."}),
		proved: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "brine_verify_proved_through_timestamp_seconds",
			Help: "Records that reached the topics before this time, since --follow began, are verified in rows and documents; if sampled, in a " +
				"share of the rows. It stops advancing once a finding is left unrepaired."}, []string{"sampled"}),
	}
	reg.MustRegister(m.read, m.compared, m.found, m.failed, m.last, m.proved)
	m.lastMS.Store(time.Now().UnixMilli())
	return m
}

// Hooks returns the hooks of a verification.
func (m *Verify) Hooks() verify.Hooks {
	return verify.Hooks{
		Read: func(i verify.ReadInfo) { m.read.WithLabelValues(i.Source).Add(float64(i.Records)) },
		Compared: func(i verify.ComparedInfo) {
			m.compared.WithLabelValues(i.Table).Add(float64(i.Keys))
			if _, before := m.tables.LoadOrStore(i.Table, true); !before { // as in zero.go
				for _, kind := range verify.Kinds {
					m.found.WithLabelValues(i.Table, string(kind))
				}
			}
		},
		Found: func(i verify.FoundInfo) { m.found.WithLabelValues(i.Table, string(i.Kind)).Add(float64(i.Count)) },
	}
}

// Verified records a completed verification, whatever it found.
func (m *Verify) Verified(at time.Time) {
	m.lastMS.Store(at.UnixMilli())
	m.last.Set(float64(at.UnixMilli()) / 1000)
}

// Proved records the time through which what arrived in the topics is verified, in whole or by a sample.
func (m *Verify) Proved(through time.Time, sampled bool) {
	m.proved.WithLabelValues(strconv.FormatBool(sampled)).Set(float64(through.UnixMilli()) / 1000)
}

// Failed records a verification that could not be completed.
func (m *Verify) Failed() { m.failed.Inc() }

// Healthy reports whether a verification was completed within the given time.
func (m *Verify) Healthy(now time.Time, within time.Duration) bool {
	return now.UnixMilli()-m.lastMS.Load() < within.Milliseconds()
}
