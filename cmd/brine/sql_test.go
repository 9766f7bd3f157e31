package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSQL queries rows that run has written: by ranges of the key, in its order, and in each format. Errors come with their place.
func TestSQL(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		var scans []sent
		at := time.Date(2013, 1, 1, 8, 0, 0, 0, time.UTC)
		for i, action := range []string{"DEPART", "ARRIVE", "DELIVER"} {
			scans = append(scans, sent{time: at, value: fmt.Appendf(nil, `{"waybill":"W1","action":%q,"at":%d,"station":"JFK"}`, action, at.Add(time.Duration(i)*time.Hour).UnixMilli())})
		}
		j.sendAll(append(scans, sent{time: at, value: fmt.Appendf(nil, `{"waybill":"W2","action":"DEPART","at":%d,"station":"EWR"}`, at.UnixMilli())}))
		j.must("run", "-q", "-c", j.file, "--until-end")
		sql := func(statement string, args ...string) []string {
			return append([]string{"sql", "-c", j.file, "-e", strings.ReplaceAll(statement, "scans", j.table)}, args...)
		}
		for statement, want := range map[string]string{
			"SELECT action FROM scans WHERE waybill = 'W1' ORDER BY at DESC":                                                          "action\nDELIVER\nARRIVE\nDEPART\n",
			"SELECT action FROM scans WHERE waybill = 'W1' ORDER BY at LIMIT 2":                                                       "action\nDEPART\nARRIVE\n",
			"SELECT action FROM scans WHERE waybill = 'W1' AND at >= '2013-01-01T09:00:00Z' AND at < '2013-01-01T10:00:00Z'":          "action\nARRIVE\n",
			"SELECT waybill, COUNT(*) FROM scans GROUP BY waybill ALLOW FULL SCAN":                                                    "waybill,COUNT(*)\nW1,3\nW2,1\n",
			"SELECT station FROM scans WHERE waybill IN ('W1', 'W2') AND station = 'EWR'; SELECT COUNT(*) FROM scans ALLOW FULL SCAN": "station\nEWR\n\nCOUNT(*)\n4\n",
		} {
			if got := j.output(sql(statement, "--format", "csv")...); got != want {
				t.Errorf("%s\nhas %q\nnot %q", statement, got, want)
			}
		}
		if out := j.output(sql("EXPLAIN SELECT * FROM scans WHERE waybill = 'W1' AND station = 'JFK'")...); !strings.Contains(out, "1 range, by waybill = 'W1'") ||
			!strings.Contains(out, "hbase leaves out  rows without station = 'JFK'") || !strings.Contains(out, "1 of 16") {
			t.Errorf("the plan is\n%s", out)
		}
		if out := j.output(sql("SELECT station FROM scans WHERE waybill = 'W1' LIMIT 1", "--format", "json")...); !strings.Contains(out, `"rows":[["JFK"]]`) ||
			!strings.Contains(out, `"rows_returned":1,"regions":1}`) {
			t.Errorf("as JSON: %s", out)
		}
		for statement, want := range map[string]string{
			"SELECT * FROM scans":                     "ALLOW FULL SCAN",
			"SELECT * FROM scans WHERE statoin = 'x'": "has no column statoin",
			"SELECT *\nFROM scans\nWHERE OR":          "line 3, column 7",
			"DROP TABLE scans":                        "statements only read",
			"SELECT * FROM nosuch LIMIT 1":            "there is no table nosuch",
		} {
			if out, code := j.exit(sql(statement)...); code != exitUsage || !strings.Contains(out, want) {
				t.Errorf("%s: exit %d: %s", statement, code, out)
			}
		}
	})
}
