package operations

import (
	"context"
	"errors"

	"brine/internal/fault"
	"brine/serve/client"
	"brine/service"
	"brine/service/reload"
)

// PlanReload implements serve.Operations.
func (o *Operations) PlanReload(ctx context.Context, of client.ReloadAsk, by string) (client.Reload, error) {
	return o.reload(ctx, service.Reloading{By: by, Preview: true, Meant: !of.DryRun, After: of.After})
}

// Reload implements serve.Operations. The reload is completed even if the client disconnects.
func (o *Operations) Reload(ctx context.Context, after, by string) (client.Reload, error) {
	return o.reload(ctx, service.Reloading{By: by, After: after})
}

func (o *Operations) reload(ctx context.Context, asked service.Reloading) (client.Reload, error) {
	r, err := o.service.ReloadForAnswer(ctx, asked)
	if r == nil {
		return client.Reload{}, err
	}
	switch f, ok := errors.AsType[*fault.Error](err); {
	case err == nil:
	case ok && f.Kind == fault.Unreachable:
		return client.Reload{}, err
	case !asked.Preview: // any error is the file's fault, not the request's
		return client.Reload{}, fault.New(fault.Failed, errors.New(r.Error), r.Fix)
	}
	return shownReload(r), nil
}

func shownReload(r *reload.Result) client.Reload {
	out := client.Reload{Result: string(r.Outcome), By: r.By, At: timeText(r.At), Before: r.Before, After: r.After,
		Pipelines: []client.ReloadHalf{}, Settings: []client.ReloadSetting{},
		Error: r.Error, Fix: r.Fix, Warnings: r.Warned, Unrecorded: r.Unrecorded}
	if r.Plan != nil {
		for i := range r.Halves {
			h := &r.Halves[i]
			out.Pipelines = append(out.Pipelines, client.ReloadHalf{Name: h.Name, Does: string(h.Does), Settings: h.Settings, Onward: h.Onward})
		}
		for i := range r.Settings {
			d := &r.Settings[i]
			out.Settings = append(out.Settings, client.ReloadSetting{Setting: d.Setting, Was: d.Was, Becomes: d.Becomes, Effect: string(d.Effect)})
		}
		for _, f := range r.Refusals {
			out.Refusals = append(out.Refusals, client.ReloadRefusal(f))
		}
	}
	for _, f := range r.Renewed {
		out.Renewed = append(out.Renewed, client.ReloadRenewal(f))
	}
	for _, at := range r.Onward {
		out.Onward = append(out.Onward, client.ReloadOffset(at))
	}
	return out
}
