package skew

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// State is everything that is reported about the tables at one moment.
type State struct {
	Tables map[string]TableState `json:"tables"`
	Hot    []HotSpot             `json:"hot"` // hottest first
}

// TableState is the state of one table with what is written to it most.
type TableState struct {
	Report
	Heavy       []Heavy            `json:"heavy_keys"`             // by the first field that is whole in the row
	HeavyFields map[string][]Heavy `json:"heavy_fields,omitempty"` // by declared field
	Writers     []HeavyWriter      `json:"writers,omitempty"`      // who writes most
}

// State measures every table, and advises.
func (t *Tables) State() State {
	s := State{Tables: make(map[string]TableState), Hot: t.Advise()}
	for name, c := range t.all() {
		s.Tables[name] = TableState{Report: c.Report(), Heavy: c.Heavy(), HeavyFields: c.HeavyFields(), Writers: c.Writers()}
	}
	return s
}

// Of returns the state of one table, named in full or without its namespace.
func (s State) Of(name string) (State, error) {
	if _, ok := s.Tables[name]; ok {
		return s.of(name), nil
	}
	names := slices.Sorted(maps.Keys(s.Tables))
	var matches []string
	for _, table := range names {
		if _, short, _ := strings.Cut(table, ":"); short == name {
			matches = append(matches, table)
		}
	}
	switch len(matches) {
	case 0:
		return s, errors.New("that brine writes no table " + name + "; it writes " + strings.Join(names, ", "))
	case 1:
		return s.of(matches[0]), nil
	}
	return s, errors.New("table " + name + " is short for " + strings.Join(matches, " and ") + "; write one of them")
}

func (s State) of(table string) State {
	out := State{Tables: map[string]TableState{table: s.Tables[table]}}
	for _, h := range s.Hot {
		if h.Table == table || h.Region == nil && len(h.Actions) > 0 && h.Actions[0].Table == table {
			out.Hot = append(out.Hot, h)
		}
	}
	return out
}
