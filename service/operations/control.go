package operations

import (
	"context"
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

// askedNow returns the current orders for halves, cached for a moment.
func (o *Operations) askedNow(ctx context.Context) (map[string]service.Asked, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	if now := o.now(); o.readAt.IsZero() || now.Sub(o.readAt) >= o.hold {
		within, cancel := context.WithTimeout(ctx, brokersPatience)
		defer cancel()
		o.askedOf, o.askedErr = o.control.Asked(within)
		if o.readAt = now; o.askedErr != nil { // do not ask silent brokers again at once
			o.readAt = now.Add(silenceHolds)
		}
	}
	return o.askedOf, o.askedErr
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
