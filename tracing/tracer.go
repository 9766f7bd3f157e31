package tracing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"brine/internal/term"
)

// Options configure where spans go and which records are followed.
type Options struct {
	To      string      // http://HOST:PORT or https://…: OTLP over HTTP; stdout; or file:PATH, which is appended to
	OneIn   int         // follow one in OneIn records without a traceparent; 0: none of them
	Version string      // of brine
	Failed  func(error) // called for spans that could not be delivered; may be nil
}

// library is the instrumentation scope of the spans.
const library = "brine"

// Tracer makes spans and exports them. It is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	oneIn    int64
	seen     atomic.Int64 // records
	file     io.Closer    // nil: none
}

// Open returns a tracer. It does not connect yet.
func Open(opts Options) (*Tracer, error) {
	exporter, file, err := export(opts.To)
	if err != nil {
		return nil, err
	}
	if opts.Failed != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(opts.Failed))
	}
	t := newTracer(sdk.WithBatcher(exporter), opts)
	t.file = file
	return t, nil
}

func newTracer(to sdk.TracerProviderOption, opts Options) *Tracer {
	provider := sdk.NewTracerProvider(to, sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "brine"), attribute.String("service.version", opts.Version))))
	return &Tracer{provider: provider, tracer: provider.Tracer(library), oneIn: int64(opts.OneIn)}
}

// export returns the exporter of the spans.
func export(to string) (sdk.SpanExporter, io.Closer, error) {
	switch path, isFile := strings.CutPrefix(to, "file:"); {
	case isFile:
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // spans name rows
		if err != nil {
			return nil, nil, err
		}
		exporter, err := stdouttrace.New(stdouttrace.WithWriter(f))
		return exporter, f, err
	case to == "stdout":
		exporter, err := stdouttrace.New(stdouttrace.WithWriter(term.NewWriter(os.Stdout)))
		return exporter, nil, err
	}
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, fmt.Errorf("%q is neither http://HOST:PORT, nor stdout, nor file:PATH", to)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(u.String()))
	return exporter, nil, err
}

// Close delivers the remaining spans until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	err := t.provider.Shutdown(ctx)
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}
