package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// bands is a heat map with one line per series: time runs to the right, and the brighter a cell, the larger its value.
func bands(title, unit, description string, q query) *heatmap.PanelBuilder {
	return heat(title, unit, description).
		CellValues(heatmap.NewCellValuesBuilder().Unit(unit)).
		YAxis(heatmap.NewYAxisConfigBuilder().Reverse(true)). // the first series on top, as in a table
		WithTarget(target(0, q))
}

// spread is a heat map of a histogram: how many observations per second fell into each bucket.
func spread(title, unit, description, metric, selector string) *heatmap.PanelBuilder {
	q := target(0, query{sum("le", rate(metric+"_bucket", selector)), "{{le}}"})
	return heat(title, unit, description).
		CellValues(heatmap.NewCellValuesBuilder().Unit("short")).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(unit)).
		WithTarget(q.Format(prometheus.PromQueryFormatHeatmap))
}

func heat(title, unit, description string) *heatmap.PanelBuilder {
	const exponent = .5 // so that small values are visible next to large ones
	return heatmap.NewPanelBuilder().Title(title).Description(description).Unit(unit).Span(8).Height(8).
		Datasource(source).Calculate(false).CellGap(1).ShowLegend().
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Inferno").Steps(64).
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(exponent).Fill("dark-orange")).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).YHistogram(false)).
		RowsFrame(heatmap.NewRowsHeatmapOptionsBuilder().Layout(common.HeatmapCellLayoutAuto)).
		FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9))
}
