package operations

import (
	"cmp"
	"context"
	"slices"
	"time"

	"brine/internal/when"
	"brine/mask"
	"brine/serve/client"
	"brine/service/mapstore"
	"brine/skew"
)

// counted is how far back the maps of one process's own counters go.
const counted = 8 * time.Hour

// HeatMap implements serve.Operations.
func (o *Operations) HeatMap(ctx context.Context, table string, of client.HeatMapOf, rules *mask.Rules) (client.HeatMap, error) {
	out := client.HeatMap{Table: table, Starts: []string{}, Labels: []string{}, Times: []string{}, Rows: [][]float64{}, Bytes: [][]float64{},
		Hot: []client.HotRange{}, Kept: int(counted.Minutes())}
	t, err := o.table(table)
	if err != nil {
		return out, err
	}
	span, err := o.span(of)
	if err != nil {
		return out, err
	}
	if span.Server != "" || span.Metric == skew.MetricRequests {
		o.refresh(ctx)
	}
	var m skew.HeatMap
	maps := o.service.Maps()
	if maps != nil {
		out.Kept = int(mapstore.Kept().Minutes())
		for _, r := range mapstore.Resolutions() {
			out.Buckets = append(out.Buckets, client.MapBuckets{Minutes: int(r.Kept.Minutes()), Seconds: int(r.Long.Seconds())})
		}
		if m, err = keptMap(ctx, maps, table, span); err != nil {
			if of.Until != "" || ctx.Err() != nil {
				return out, err
			}
			out.Detail = shortly(err)
		}
	}
	if (maps == nil || err != nil) && slices.Contains(o.service.Tables().Names(), table) {
		m = mapstore.Counted(o.service.Tables().Counter(table, skew.Shape{}), span)
	}
	hidden, keys := o.masksKey(table, rules), t.RowKeys()
	for _, k := range m.Starts {
		label := ""
		if !hidden {
			label = keys.Describe(k)
		}
		out.Starts, out.Labels = append(out.Starts, key(k, hidden)), append(out.Labels, label)
	}
	for _, at := range m.Times {
		out.Times = append(out.Times, timeText(at))
	}
	if of.Until == "" && slices.Contains(o.service.Tables().Names(), table) {
		out.Hot = append(out.Hot, hotRanges(&m, o.service.Tables().Counter(table, skew.Shape{}).Recent().Regions, span.Server)...)
	}
	out.Rows, out.Bytes, out.Most = append(out.Rows, m.Rows...), append(out.Bytes, m.Bytes...), m.Most
	out.Requests, out.Latency, out.ReadLatency = m.Requests, m.Latency, m.ReadLatency
	for _, c := range m.Unknown {
		out.Unknown = append(out.Unknown, int64(c))
	}
	if err := o.service.LoadsError(); err != nil && span.Metric == skew.MetricRequests && of.Until == "" {
		out.Loads = shortly(err)
	}
	return out, nil
}

// hotRanges returns where on a map the hot regions lie, of one server or of all (empty). It works on the server because it needs the keys,
// which may be masked for the caller.
func hotRanges(m *skew.HeatMap, regions []skew.Load, server string) (out []client.HotRange) {
	for i := range regions {
		r := &regions[i].Region
		if regions[i].HotSince != nil && len(m.Starts) > 0 && (server == "" || r.Server == server) {
			from, to := m.Within(r.Start, r.End)
			out = append(out, client.HotRange{Region: r.Name, From: int64(from), To: int64(to)})
		}
	}
	return out
}

// mapsPatience is how long to wait for a stored map before showing this process's own counters instead, and for the loads of regions.
const mapsPatience = 3 * time.Second

// keptMap draws the stored map. A map of an earlier time may take as long as the request, because there is nothing to show instead.
func keptMap(ctx context.Context, maps *mapstore.Store, table string, span mapstore.Span) (skew.HeatMap, error) {
	if !span.Until.IsZero() {
		return maps.Map(ctx, table, span)
	}
	patience := mapsPatience
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)/2)
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return maps.Map(within, table, span)
}

// span parses the part of the map that is requested.
func (o *Operations) span(of client.HeatMapOf) (mapstore.Span, error) {
	now := o.now()
	metric := skew.Metric(of.Metric)
	span := mapstore.Span{Server: of.Server}
	span.Ranges, span.Columns = min(cmp.Or(of.Ranges, skew.MostRanges), skew.MostRanges), cmp.Or(of.Columns, 480)
	span.Metric = metric
	if metric != "" && !slices.Contains(skew.Metrics, metric) {
		return span, misused("metric: %q is none; it is one of rows, bytes, requests, latency and read_latency", of.Metric)
	}
	until := now
	if of.Until != "" {
		at, err := when.Time(of.Until, now)
		switch {
		case err != nil:
			return span, misused("until: %v", err)
		case o.service.Maps() == nil:
			return span, misused("until: earlier maps are not kept; set map.history")
		}
		until, span.Until = at, at
	}
	span.From = until.Add(-time.Duration(cmp.Or(of.Minutes, 60)) * time.Minute)
	if oldest := now.Add(-mapstore.Kept()); span.From.Before(oldest) {
		span.From = oldest
	}
	if !span.From.Before(until) {
		return span, misused("until: maps are not kept as far back as %s", of.Until)
	}
	return span, nil
}

// TableSizes implements serve.Operations.
func (o *Operations) TableSizes(ctx context.Context, table string, of client.HeatMapOf) (client.TableSizes, error) {
	out := client.TableSizes{Table: table, Sizes: []client.TableSize{}}
	if _, err := o.table(table); err != nil {
		return out, err
	}
	span, err := o.span(of)
	if err != nil || o.service.Maps() == nil {
		return out, err
	}
	sizes, err := o.service.Maps().Sizes(ctx, table, span)
	for _, s := range sizes {
		out.Sizes = append(out.Sizes, client.TableSize{At: timeText(s.At), MB: s.MB})
	}
	return out, err
}
