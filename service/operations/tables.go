package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/internal/fault"
	"brine/mask"
	"brine/schema/regions"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
	"brine/skew"
)

// loadsHold is how long region loads are cached if nothing else fetches them.
const loadsHold = 15 * time.Second

// table returns the named table of the configuration.
func (o *Operations) table(name string) (*config.Table, error) {
	if t := o.cfg().Table(name); t != nil {
		return t, nil
	}
	return nil, missing("the configuration has no table %q", name)
}

// Tables implements serve.Operations.
func (o *Operations) Tables(ctx context.Context) (client.StoredTables, error) {
	out := client.StoredTables{Tables: []client.StoredTable{}}
	for _, t := range o.cfg().Tables {
		shown := client.StoredTable{Name: t.Name, Pipelines: []string{}, Families: []client.StoredFamily{},
			Settings: map[string]string{}}
		for _, p := range o.cfg().Pipelines {
			if p.Writes(t.Name) {
				shown.Pipelines = append(shown.Pipelines, p.Name)
			}
		}
		if err := o.stored(ctx, t, &shown); ctx.Err() != nil {
			return out, ctx.Err()
		} else if err != nil {
			shown.Detail = shortly(err)
		}
		out.Tables = append(out.Tables, shown)
	}
	return out, nil
}

// stored fills in what the cluster knows of a table.
func (o *Operations) stored(ctx context.Context, t *config.Table, shown *client.StoredTable) error {
	all, err := regions.Open(ctx, o.service.Client(), t.Name, t.RowKeys())
	if err != nil {
		return err
	}
	as, err := o.service.Client().Describe(ctx, t.Name)
	if err != nil {
		return err
	}
	servers := map[string]bool{}
	for _, r := range all.List() {
		shown.Regions++
		shown.MB += int64(r.FileMB + r.Memory)
		servers[r.Server] = true
	}
	shown.Servers, shown.Settings = len(servers), as.Values
	for _, f := range as.Families {
		shown.Families = append(shown.Families, client.StoredFamily{Name: f.Name, Settings: f.Values})
	}
	return nil
}

// Regions implements serve.Operations.
func (o *Operations) Regions(ctx context.Context, name string, rules *mask.Rules) (client.Regions, error) {
	out := client.Regions{Table: name, Regions: []client.Region{}}
	t, err := o.table(name)
	if err != nil {
		return out, err
	}
	all, err := regions.Open(ctx, o.service.Client(), t.Name, t.RowKeys())
	if errors.Is(err, hbase.ErrNoTable) {
		return out, fault.New(fault.Missing, fmt.Errorf("table %s: %w", name, hbase.ErrNoTable),
			"brine tables apply creates the tables of the configuration")
	} else if err != nil {
		return out, err
	}
	hidden := o.masksKey(name, rules)
	for _, r := range all.List() {
		shown := client.Region{Name: r.Name, Start: key(r.Start, hidden), End: key(r.End, hidden), Fields: r.Fields, Server: r.Server,
			State: r.State, FilesMB: int64(r.FileMB), MemoryMB: int64(r.Memory), Files: int64(r.Files), Reads: int64(r.Reads),
			Writes: int64(r.Writes), Locality: float64(r.Local)}
		if hidden {
			shown.Fields = ""
		}
		out.Regions = append(out.Regions, shown)
	}
	return out, nil
}

// masksKey reports whether the keys of a table are masked, for the caller or for everybody.
func (o *Operations) masksKey(table string, rules *mask.Rules) bool {
	return rules.MasksKey(table) || o.cfg().Mask().MasksKey(table)
}

// key returns a row key as it may be shown. The first region has no start key, and the last no end key.
func key(k skew.Key, hidden bool) string { return mask.If(hidden && len(k) > 0, k.String()) }

// Skew implements serve.Operations.
func (o *Operations) Skew(ctx context.Context, table string, rules *mask.Rules) (client.Skew, error) {
	out := client.Skew{Tables: []client.SkewTable{}, Hot: []client.HotSpot{}, Here: o.runs()}
	if table != "" {
		if _, err := o.table(table); err != nil {
			return out, err
		}
	}
	o.refresh(ctx)
	state := o.service.Tables().State()
	if table != "" {
		var err error
		if state, err = state.Of(table); err != nil {
			return out, nil //nolint:nilerr // nothing writes the table, so nothing is known of it
		}
	}
	for _, t := range o.cfg().Tables { // in the configured order
		if s, ok := state.Tables[t.Name]; ok {
			out.Tables = append(out.Tables, skewOf(t.Name, &s, o.masksKey(t.Name, rules)))
		}
	}
	for i := range state.Hot {
		out.Hot = append(out.Hot, o.hotSpot(&state.Hot[i], rules))
	}
	return out, nil
}

func skewOf(name string, s *skew.TableState, hidden bool) client.SkewTable {
	out := client.SkewTable{Table: name, Rows: s.RowsTotal, Total: indices(s.Total), Recent: indices(s.Recent),
		FiveMinutes: indices(s.FiveMinutes), Hour: indices(s.Hour), Beyond: indices(s.BeyondChance), Servers: indices(s.ServerWrites),
		Regions: []client.SkewRegion{}, Heavy: []client.HeavyKey{}, Writers: []client.SkewWriter{}, Warnings: append([]string{}, s.Warnings...)}
	if s.Cluster != nil {
		data := indices(s.Cluster.Data)
		out.Data = &data
	}
	for i := range s.Regions {
		l := &s.Regions[i]
		r := client.SkewRegion{Name: l.Region.Name, Start: key(l.Region.Start, hidden), Server: l.Region.Server, Rows: l.Total.Rows,
			Bytes: l.Total.Bytes, Minute: l.Recent.Rows, Rate: l.Rate}
		if l.HotSince != nil {
			r.HotSince = timeText(*l.HotSince)
		}
		if l.Cluster != nil {
			r.MB, r.Reads, r.Writes = &l.Cluster.MB, &l.Cluster.Reads, &l.Cluster.Writes
		}
		out.Regions = append(out.Regions, r)
	}
	for _, h := range s.Heavy {
		if !hidden {
			out.Heavy = append(out.Heavy, client.HeavyKey{Key: h.Key.String(), Text: h.Text, Rows: h.Rows, Error: h.Error, Share: h.Share})
		}
	}
	for i := range s.Writers {
		w := &s.Writers[i]
		out.Writers = append(out.Writers, client.SkewWriter{Pipeline: w.Pipeline, Topic: w.Topic, Partition: int64(w.Partition),
			Producer: w.Producer, Name: w.Name, Records: w.Records, Error: w.Error, Share: w.Share})
	}
	return out
}

func indices(x skew.Indices) client.SkewIndices {
	return client.SkewIndices{MaxMean: x.MaxMean, CV: x.CV, Gini: x.Gini, Entropy: x.Entropy, P99Mean: x.P99Mean, TopShare: x.TopShare,
		Cost: x.HBaseCost}
}

// hotSpot converts a hot spot. If keys are masked, it omits the reasons and advice, which may name keys.
func (o *Operations) hotSpot(h *skew.HotSpot, rules *mask.Rules) client.HotSpot {
	out := client.HotSpot{Table: h.Table, Server: h.Server, Since: timeText(h.Since), Severity: h.Severity, Rate: h.Rate, Times: h.Times,
		Share: h.Share, Cause: string(h.Cause), Advice: []string{}, Actions: []client.HotAction{}}
	if h.Region != nil {
		out.Region = h.Region.Name
	}
	named := []string{h.Table}
	for _, a := range h.Actions {
		named = append(named, a.Table)
	}
	if slices.ContainsFunc(named, func(t string) bool { return o.masksKey(t, rules) }) {
		return out
	}
	out.Why, out.Values = h.Why, h.Values
	if h.Heavy != nil {
		out.Key = h.Heavy.Name()
	}
	for _, a := range h.Actions {
		out.Advice = append(out.Advice, a.String())
		out.Remedies = append(out.Remedies, client.HotRemedy{Kind: string(a.Kind), Table: a.Table, Region: a.Region, At: a.At.String(),
			AtText: a.AtText, To: a.To, Buckets: a.Buckets, Fields: a.Fields, Effect: (*client.HotEffect)(a.Effect)})
		if job := map[skew.ActionKind]string{skew.Split: serve.RegionSplitJob, skew.Move: serve.RegionMoveJob}[a.Kind]; job != "" {
			out.Actions = append(out.Actions, client.HotAction{Job: job, Text: a.String(), Table: a.Table, Region: a.Region, At: a.At.String(),
				To: a.To})
		}
	}
	return out
}

// runs reports whether pipelines run in this process.
func (o *Operations) runs() bool {
	return slices.ContainsFunc(o.cfg().Halves(), func(h config.Half) bool { return running(o.service.Half(h.Name())) })
}

func running(h *service.Half) bool {
	if h == nil {
		return false
	}
	_, ok := h.Running()
	return ok
}

// refresh fetches the loads of regions from the cluster, unless pipelines that run here do. If the cluster does not answer, the loads
// become old, which reports show.
func (o *Operations) refresh(ctx context.Context) {
	o.loading.Lock()
	defer o.loading.Unlock()
	if o.runs() || o.now().Sub(o.loaded) < loadsHold {
		return
	}
	within, cancel := context.WithTimeout(ctx, mapsPatience)
	defer cancel()
	if err := o.service.TakeLoads(within); err != nil && ctx.Err() == nil {
		o.log.Warn("the cluster does not report the loads of its regions", "error", err)
	}
	o.loaded = o.now()
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Configuration implements serve.Operations.
func (o *Operations) Configuration(context.Context) (client.Configuration, error) {
	text, err := o.cfg().Written()
	return client.Configuration{YAML: text}, err
}
