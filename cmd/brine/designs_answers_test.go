package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// answers runs the commands of a queries.txt and returns the file with their output.
func (d *design) answers(queries string) string {
	var out strings.Builder
	var more string // the token of the previous answer
	for line := range strings.Lines(queries) {
		command, ok := strings.CutPrefix(line, "$ brine ")
		switch {
		case ok:
			var printed string
			printed, more = d.answer(strings.TrimSpace(command), more)
			fmt.Fprintf(&out, "%s%s\n", line, printed)
		case strings.HasPrefix(line, "#"):
			out.WriteString(line)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// answer runs one command. TOKEN stands for the token of the previous answer.
func (d *design) answer(command, more string) (printed, token string) {
	d.t.Helper()
	args := strings.Fields(strings.ReplaceAll(command, "TOKEN", more))
	if args[0] != "query" {
		d.t.Fatalf("%s is no query", command)
	}
	for i, arg := range args {
		switch {
		case i == 1 || args[max(i, 1)-1] == "--get":
			args[i] = d.named(arg)
		case arg != more:
			args[i] = shiftTimes(arg, d.later)
		}
	}
	for line := range strings.Lines(d.must(append([]string{args[0], "-c", d.file, "--cost"}, args[1:]...)...)) {
		if !strings.HasPrefix(line, d.file) { // otherwise a warning, or advice
			printed += shiftTimes(line, -d.later)
		}
	}
	d.checkCost(command, printed)
	if m := moreLine.FindStringSubmatch(printed); m != nil {
		printed, token = moreLine.ReplaceAllString(printed, "more: --after TOKEN"), m[1]
	}
	return printed, token
}

var (
	moreLine = regexp.MustCompile(`more: --after '([^']*)'`)
	costLine = regexp.MustCompile(`(?m)^rows (\d+), read by the servers (\d+),.*?(?:, gets (\d+))?$`)
)

// checkCost checks that every row read was returned.
func (d *design) checkCost(command, printed string) {
	d.t.Helper()
	m := costLine.FindStringSubmatch(printed)
	if m == nil || m[1] == "0" || m[1] != m[2] || m[3] != "" && m[3] != m[1] {
		d.t.Errorf("%s: rows read ÷ rows returned is not 1.0:\n%s", command, printed)
	}
}

var (
	milliseconds = regexp.MustCompile(`\b1[3-9]\d{11}\b`)
	dates        = regexp.MustCompile(`\b20\d\d-\d\d-\d\d`)
)

// shiftTimes moves all times in a text, milliseconds and dates, by whole days.
func shiftTimes(text string, by time.Duration) string {
	text = milliseconds.ReplaceAllStringFunc(text, func(ms string) string {
		n, _ := strconv.ParseInt(ms, 10, 64) // 13 digits
		return strconv.FormatInt(n+by.Milliseconds(), 10)
	})
	return dates.ReplaceAllStringFunc(text, func(date string) string {
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return date
		}
		return day.Add(by).Format(time.DateOnly)
	})
}

// newest returns the latest time in a text.
func newest(text string) time.Time {
	last := int64(0)
	for _, ms := range milliseconds.FindAllString(text, -1) {
		n, _ := strconv.ParseInt(ms, 10, 64) // 13 digits
		last = max(last, n)
	}
	return time.UnixMilli(last)
}
