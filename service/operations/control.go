package operations

import (
	"context"
	"maps"
	"time"

	"brine/serve/client"
	"brine/service"
)

// Ask implements serve.Operations.
func (o *Operations) Ask(ctx context.Context, what, pipeline string, of client.PipelineAsk, by string) (client.PipelineAsked, error) {
	out := client.PipelineAsked{Halves: []client.HalfAsked{}}
	ask := service.Ask{What: what, Pipeline: pipeline, Half: of.Half, By: by}
	if of.Limit != nil {
		ask.Limit = *of.Limit
	}
	asked, err := o.control.Ask(ctx, ask)
	o.forgetAsked()
	for _, a := range asked {
		out.Halves = append(out.Halves, client.HalfAsked{Name: a.Half, Paused: a.Paused, Limit: a.Limit, By: a.By, At: atText(a.At)})
	}
	return out, asFields(err)
}

func atText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return timeText(t)
}

// askedNow returns the current orders for halves, cached for a moment, and longer while they do not change.
func (o *Operations) askedNow(ctx context.Context) (map[string]service.Asked, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	now := o.now()
	if !o.readAt.IsZero() && now.Sub(o.readAt) < o.readHold {
		return o.askedOf, o.askedErr
	}
	within, cancel := context.WithTimeout(ctx, brokersPatience)
	defer cancel()
	asked, err := o.control.Asked(within)
	switch still := !o.readAt.IsZero() && o.askedErr == nil && maps.Equal(asked, o.askedOf); {
	case err != nil: // do not ask silent brokers again at once
		o.readHold = o.hold + silenceHolds
	case still:
		o.readHold = min(2*o.readHold, stillHolds)
	default:
		o.readHold = o.hold
	}
	o.askedOf, o.askedErr, o.readAt = asked, err, now
	return asked, err
}

func (o *Operations) forgetAsked() {
	o.reading.Lock()
	defer o.reading.Unlock()
	o.readAt = time.Time{}
}

// addAsked adds a half's order to out.
func (o *Operations) addAsked(ctx context.Context, out *client.Half) {
	asked, err := o.askedNow(ctx)
	if err != nil {
		return
	}
	a := asked[out.Name]
	out.Paused, out.RateLimit, out.AskedBy, out.AskedAt = a.Paused, a.Limit, a.By, atText(a.At)
}
