package service

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"brine/config"
	"brine/event"
)

// TestUndeclaredNamesAreLoggedOnceAMinute checks that names are logged within a minute of the first record that holds them, with their counts,
// and not again, whichever half of their pipeline sees them.
func TestUndeclaredNamesAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &Service{log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))}
		half := func(pipeline, kind string) *Half {
			return &Half{name: pipeline + "." + kind, pipeline: &config.Pipeline{Name: pipeline}, kind: kind}
		}
		rows, documents, other := half("orders", Rows), half("orders", Documents), half("scans", Rows)
		s.halves.Store(&[]*Half{rows, documents, other})
		see := func(h *Half, record string) {
			d := event.NewDecoder(event.Schema{Fields: []event.Field{{Name: "id", Type: event.Text}}, Version: -1, Undeclared: &h.undeclared})
			if err := d.Decode(&event.Record{Value: []byte(record)}, new(event.Batch)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.watchUndeclared(ctx)
		}()
		said := func(want string) {
			t.Helper()
			time.Sleep(undeclaredEvery)
			synctest.Wait()
			if got := out.String(); got != want {
				t.Errorf("logged\n%s\nexpected\n%s", got, want)
			}
			out.Reset()
		}
		line := func(pipeline, fields string) string {
			return `level=INFO msg="records have fields that the pipeline does not declare" pipeline=` + pipeline + ` fields="` + fields +
				`" fix="declare those that should be written"` + "\n"
		}
		said("")
		see(rows, `{"id":"a","note":1,"x":2}`)
		see(rows, `{"id":"a","note":1}`)
		see(rows, `{"id":"a"}`)
		see(documents, `{"id":"a","note":1,"x":2}`)
		see(other, `{"note":1}`)
		said(line("orders", "note (2 of 3), x (1 of 3)") + line("scans", "note (1 of 1)"))
		see(rows, `{"note":1}`)
		see(documents, `{"y":1}`)
		said(line("orders", "y (1 of 2)"))
		see(rows, `{"note":1,"x":1,"y":1}`)
		said("")
		stop()
		<-done
	})
}
