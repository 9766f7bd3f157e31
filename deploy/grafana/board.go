package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// board is a dashboard under construction. Panels are placed from left to right, 24 columns wide, in the order in which they are added.
type board struct{ *dashboard.DashboardBuilder }

// query is a PromQL expression and the legend of its series, in which {{label}} is replaced by the label's value.
type query struct{ expr, legend string }

// builder makes a panel.
type builder = cog.Builder[dashboard.Panel]

// source is whichever Prometheus the reader of the dashboard chooses.
var source = common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}

func newBoard(uid, title, description string) *board {
	b := &board{dashboard.NewDashboardBuilder("brine / "+title).Uid(uid).Description(description).Tags([]string{"brine"}).
		Time("now-1h", "now").Refresh("30s").Tooltip(dashboard.DashboardCursorSyncCrosshair).Readonly().
		Link(dashboard.NewDashboardLinkBuilder("brine").Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{"brine"}).IncludeVars(true).KeepTime(true)).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Prometheus").Type("prometheus"))}
	return b.variable("instance", "brine_build_info", "A process of brine.")
}

// variable lets the reader choose among the values of a metric's label; initially all are chosen.
func (b *board) variable(label, metric, description string) *board {
	b.WithVariable(dashboard.NewQueryVariableBuilder(label).Description(description).Datasource(source).
		Query(dashboard.StringOrMap{String: cog.ToPtr("label_values(" + metric + ", " + label + ")")}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc).
		Multi(true).IncludeAll(true).
		Current(dashboard.VariableOption{
			Text:  dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
			Value: dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
		}))
	return b
}

// panel adds panels; row begins a new row of them.
func (b *board) panel(panels ...builder) {
	for _, p := range panels {
		b.WithPanel(p)
	}
}

func (b *board) row(title string) { b.WithRow(dashboard.NewRowBuilder(title)) }

// number shows the current value of one number, in the colors of colored or plain; six fit side by side.
func number(title, unit, description string, steps []dashboard.Threshold, expr string) *stat.PanelBuilder {
	return stat.NewPanelBuilder().Title(title).Description(description).Unit(unit).Span(4).Height(4).
		Datasource(source).Orientation(common.VizOrientationAuto).
		GraphMode(common.BigValueGraphModeArea).ColorMode(common.BigValueColorModeValue).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)).
		WithTarget(target(0, query{expr: expr}))
}

// plain is for numbers that are never bad.
var plain = colored("green")

// colored gives small numbers the color first, and larger ones the other colors from their values on.
func colored(first string, next ...dashboard.Threshold) []dashboard.Threshold {
	return append([]dashboard.Threshold{{Color: first}}, next...)
}

func from(value float64, color string) dashboard.Threshold {
	return dashboard.Threshold{Color: color, Value: &value}
}

// bad colors a number red from a value on.
func bad(value float64) []dashboard.Threshold { return colored("green", from(value, "red")) }

// graph shows lines over time; three graphs fit side by side.
func graph(title, unit, description string, queries ...query) *timeseries.PanelBuilder {
	p := timeseries.NewPanelBuilder().Title(title).Description(description).Unit(unit).Min(0).Span(8).Height(8).
		Datasource(source).FillOpacity(10).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementBottom).Calcs([]string{"lastNotNull", "max"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	for i, q := range queries {
		p.WithTarget(target(i, q))
	}
	return p
}

// limits draws lines at the values that deserve a look, and that are bad.
func limits(p *timeseries.PanelBuilder, warning, critical float64) *timeseries.PanelBuilder {
	return p.Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).
		Steps(colored("green", from(warning, "orange"), from(critical, "red")))).
		ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
}

func target(i int, q query) *prometheus.DataqueryBuilder {
	t := prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Datasource(source).Expr(q.expr).Range()
	if q.legend != "" {
		t.LegendFormat(q.legend)
	}
	return t
}
