package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"brine/account"
	"brine/serve/client"
)

// reloadWithin allows for a reload that waits for another one, and for pipelines to settle.
const reloadWithin = 5 * time.Minute

func reloadRoutes() []*endpoint {
	return []*endpoint{{method: http.MethodPost, path: opsPath + "/reload", id: "reload",
		about: "Reload the configuration of the brine that answers, which runs the pipelines, or show what that would do.",
		body:  client.ReloadAsk{}, bare: true, answer: client.Reload{}, within: reloadWithin, refuses: []kind{refused}, handle: (*call).reload}}
}

// reload plans first, so that the audit has what will be done, and then does exactly that.
func (c *call) reload() error {
	var of client.ReloadAsk
	if c.r.ContentLength != 0 {
		if err := c.body(&of); err != nil {
			return err
		}
	}
	by := c.id.Account.Name
	planned, err := c.opts.Operations.PlanReload(c.ctx, of, by)
	switch {
	case err != nil:
		return c.operation(err)
	case of.DryRun:
		return c.json(planned)
	}
	if err := c.audit("reload", reloadObject(&planned), ""); err != nil {
		return err
	}
	if planned.Error != "" {
		return c.reloadRefused(&planned)
	}
	return answer(c, func(ctx context.Context) (client.Reload, error) {
		return c.opts.Operations.Reload(ctx, planned.After, by)
	})
}

func (c *call) reloadRefused(planned *client.Reload) error {
	detail := planned.Error
	if planned.Fix != "" {
		detail += "; " + planned.Fix
	}
	return refuse(refused, detail)
}

// reloadObject returns the audit text of a reload, with as many settings as an entry has room for.
func reloadObject(r *client.Reload) string {
	of := struct {
		Before   string                 `json:"before"`
		After    string                 `json:"after,omitempty"`
		Starts   []string               `json:"starts,omitempty"`
		Stops    []string               `json:"stops,omitempty"`
		Changes  []string               `json:"changes,omitempty"`
		Refused  string                 `json:"refused,omitempty"`
		LeftOut  int                    `json:"settings_left_out,omitempty"`
		Settings []client.ReloadSetting `json:"settings,omitempty"`
	}{Before: r.Before, After: r.After, Refused: r.Error, Settings: r.Settings}
	for _, h := range r.Pipelines {
		switch h.Does {
		case "starts":
			of.Starts = append(of.Starts, h.Name)
		case "stops":
			of.Stops = append(of.Stops, h.Name)
		case "changes":
			of.Changes = append(of.Changes, h.Name)
		}
	}
	for {
		text, err := json.Marshal(of)
		if err == nil && (len(text) <= account.MaxObject || len(of.Settings) == 0) {
			return string(text)
		}
		less := (len(of.Settings) + 1) / 2
		of.Settings, of.LeftOut = of.Settings[:len(of.Settings)-less], of.LeftOut+less
	}
}
