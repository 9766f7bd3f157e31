package metrics

import (
	"context"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// nativeReset bounds how long a native histogram keeps buckets that are no longer hit.
const nativeReset = time.Hour

// callBuckets range from a cached get (0.5 ms) to the default timeout of a call (60 s).
var callBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}

// timing returns the options of a histogram of times: classic buckets for every Prometheus, native ones for those that ask for them.
func timing(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  100,
		NativeHistogramMinResetDuration: nativeReset,
	}
}

// sampled returns the first context with a sampled trace, or a context without a trace if there is none.
func sampled(all iter.Seq[context.Context]) context.Context {
	for ctx := range all {
		if trace.SpanContextFromContext(ctx).IsSampled() {
			return ctx
		}
	}
	return context.Background()
}

// traceLabel is the label of exemplars by which Grafana finds the trace.
const traceLabel = "trace_id"

// observe counts a time; one from a sampled trace becomes an exemplar.
func observe(ctx context.Context, o prometheus.Observer, d time.Duration) {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		o.(prometheus.ExemplarObserver).ObserveWithExemplar(d.Seconds(), prometheus.Labels{traceLabel: span.TraceID().String()})
		return
	}
	o.Observe(d.Seconds())
}
