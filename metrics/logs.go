package metrics

import (
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Logs registers the counter of omitted log lines, and returns the hook that feeds it.
func Logs(reg prometheus.Registerer) func(level slog.Level, lines int) {
	leftOut := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_log_lines_left_out_total",
		Help: "Log lines that were counted but not printed, because the same line had been printed shortly before.",
	}, []string{"level"})
	reg.MustRegister(leftOut)
	for _, level := range []slog.Level{slog.LevelWarn, slog.LevelError} {
		leftOut.WithLabelValues(strings.ToLower(level.String()))
	}
	return func(level slog.Level, lines int) {
		name, _, _ := strings.Cut(strings.ToLower(level.String()), "+") // ERROR+2 counts as error
		leftOut.WithLabelValues(name).Add(float64(lines))
	}
}
