package main

import (
	"fmt"
	"time"

	"brine/bench/measure"
)

// outcome is the result of a run. Each part is printed once it is known, and all of it is stored in bench/results/shop.json, or shop-4.json
// at scale 4.
type outcome struct {
	Orders    int     `json:"orders"`
	Users     int     `json:"users"`
	Scans     int     `json:"scans"`
	Changes   int     `json:"changes"`
	Published float64 `json:"published_s"`
	Ran       float64 `json:"run_s"`
	CPU       float64 `json:"run_cpu_s"`
	Lines     int64   `json:"lines"`
	Tables    []table `json:"tables"`
	Asked     []asked `json:"asked"`
	Timed     []timed `json:"timed"`
}

// table is how the rows of a table lie over its regions.
type table struct {
	Name    string  `json:"table"`
	Rows    int     `json:"rows"`
	Regions int     `json:"regions"`
	Least   float64 `json:"least_percent"` // of the rows, in one region
	Most    float64 `json:"most_percent"`
}

// asked is what was compared with the input.
type asked struct {
	View      string  `json:"view"`
	Questions int     `json:"questions"`
	Rows      int     `json:"rows"`
	Each      float64 `json:"ms_a_question"`
}

// timed is how long queries took.
type timed struct {
	Question string  `json:"question"`
	Asked    int     `json:"asked"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
}

func (o *outcome) loaded(published, ran time.Duration, cpu float64, changes int) {
	o.Published, o.Ran, o.CPU, o.Changes = published.Seconds(), ran.Seconds(), cpu, changes
	fmt.Printf("published in %v\n", published)
	fmt.Printf("brine run --until-end: %v, %.0f s of CPU, %d changes in the file, with copies as rows and documents\n", ran, cpu, changes)
}

func (o *outcome) addTable(t table) {
	o.Tables = append(o.Tables, t)
	fmt.Printf("%-17s %8d rows in %d regions, of which each has %.1f to %.1f %%\n", t.Name, t.Rows, t.Regions, t.Least, t.Most)
}

func (o *outcome) addAsked(t *tally) {
	a := asked{t.view, t.questions, t.rows, 1000 * t.took.Seconds() / float64(max(1, t.questions))}
	o.Asked = append(o.Asked, a)
	fmt.Printf("%-17s %6d questions, %8d rows compared; %.2f ms a question\n", a.View, a.Questions, a.Rows, a.Each)
}

func (o *outcome) addTimed(t timed) {
	o.Timed = append(o.Timed, t)
	fmt.Printf("%-29s p50 %.2f ms   p99 %.2f ms   (%d questions)\n", t.Question, t.P50, t.P99, t.Asked)
}

// record stores the outcome, and returns an error if any answer was wrong.
func (o *outcome) record(scale string, wrong int) error {
	name := "shop"
	if scale != "1" {
		name += "-" + scale
	}
	r := measure.NewReport(name)
	r.Detail, r.Targets = o, []measure.Target{measure.AtMost("shop.wrong_answers", measure.Exactly(float64(wrong)), 0)}
	return r.Keep()
}
