package service

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"brine/service/admin"
	"brine/skew"
)

// Paths on the admin port for skew data.
const (
	SkewPath    = "/debug/skew"     // skew.State
	SkewMapPath = "/debug/skew/map" // the heat map of ?table= over the last ?minutes=, ?ranges= by ?columns=
)

// Handlers registers handlers: the admin port, or a test's server.
type Handlers interface {
	Handle(pattern string, h http.Handler)
}

// HandleSkew serves the state of all tables, and the heat map of one.
func HandleSkew(mux Handlers, tables *skew.Tables) {
	mux.Handle("GET "+SkewPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		admin.WriteJSON(w, http.StatusOK, tables.State())
	}))
	mux.Handle("GET "+SkewMapPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		table := r.FormValue("table")
		if !slices.Contains(tables.Names(), table) {
			http.Error(w, fmt.Sprintf("this brine does not write table %q", table), http.StatusNotFound)
			return
		}
		number := func(name string, unless, most int) int {
			n, err := strconv.Atoi(r.FormValue(name))
			if err != nil {
				n = unless
			}
			return min(max(n, 1), most)
		}
		span := time.Duration(number("minutes", 60, 8*60)) * time.Minute
		ranges, columns := number("ranges", skew.MostRanges, skew.MostRanges), number("columns", 480, 480)
		admin.WriteJSON(w, http.StatusOK, tables.Counter(table, skew.Shape{}).HeatMap(span, ranges, columns))
	}))
}
