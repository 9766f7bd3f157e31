package measure

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestTargetsCanBeShort(t *testing.T) {
	for _, c := range []struct {
		target Target
		line   string
	}{
		{AtLeast("rate", Exactly(1.1), 1.1), "rate 1.10 ≥1.1 ok"},
		{AtLeast("rate", Exactly(1.09), 1.1), "rate 1.09 ≥1.1 short"},
		{AtMost("peak", Exactly(64), 64), "peak 64.00 ≤64 ok"},
		{AtMost("peak", Exactly(64.5), 64), "peak 64.50 ≤64 short"},
		{AtLeast("rate", Estimate{1.2, 0.09}, 1.1), "rate 1.20±0.09 ≥1.1 ok"},
		{AtLeast("rate", Estimate{1.2, 0.11}, 1.1), "rate 1.20±0.11 ≥1.1 undecided"},
		{AtMost("cost", Estimate{4.09, 1.2}, 3), "cost 4.09±1.20 ≤3 undecided"},
		{AtMost("cost", Estimate{4.09, 1}, 3), "cost 4.09±1.00 ≤3 short"},
	} {
		if got := c.target.String(); got != c.line {
			t.Errorf("got %q, want %q", got, c.line)
		}
	}
}

func TestMediansLeaveOutTheWarming(t *testing.T) {
	load := func(client string, round, rows int) Load {
		return Load{Client: client, Round: round, Columns: 4, Rows: rows, Seconds: 2}
	}
	loads := []Load{
		load("a", 0, 1), load("a", 1, 100), load("a", 2, 300), load("a", 3, 200),
		load("b", 0, 1), load("b", 1, 50), load("b", 2, 300), load("b", 3, 50), {Client: "a", Round: 1, Columns: 1, Rows: 9, Seconds: 1},
	}
	a, b := Counted(loads, "a", 4), Counted(loads, "b", 4)
	if got := Median(a, Load.RowsPerSecond); got != 100 {
		t.Errorf("median of a is %v rows/s, want 100", got)
	}
	if got := Ratio(a, b, Load.RowsPerSecond); got != 2 { // of 2, 1 and 4
		t.Errorf("ratio is %v, want 2", got)
	}
	if got := Middle([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of an even number is %v, want 2.5", got)
	}
}

func TestLoaderMustSayItsResult(t *testing.T) {
	said, _, err := listen(bufio.NewScanner(strings.NewReader("begin\n{\"seconds\":2,\"cpu_s\":1.5,\"peak_mib\":30}\n")), os.Getpid())
	if err != nil || said != (Said{Seconds: 2, CPU: 1.5, PeakMiB: 30}) {
		t.Errorf("got %+v, %v", said, err)
	}
	for _, out := range []string{"", "begin\n", "{\"seconds\":2}\n", "begin\noops\n"} {
		if _, _, err := listen(bufio.NewScanner(strings.NewReader(out)), os.Getpid()); err == nil {
			t.Errorf("no error for %q", out)
		}
	}
}

func TestProcessCostsAreReadFromProc(t *testing.T) {
	before, err := OwnCPU()
	if err != nil {
		t.Fatal(err)
	}
	spin, sum := make([]byte, 32<<20), 0
	for own := before; own < before+0.05; own, _ = OwnCPU() {
		for i := range spin {
			spin[i]++
			sum += int(spin[i])
		}
	}
	stat, err := CPU(os.Getpid())
	if err != nil || stat < before+0.02 {
		t.Errorf("/proc says %v s, %v; rusage said %v before %d additions", stat, err, before, sum)
	}
	if peak, err := PeakMiB(strconv.Itoa(os.Getpid())); err != nil || peak < 32 {
		t.Errorf("peak is %v MiB, %v; want at least the 32 that were just written", peak, err)
	}
}

func TestReportKeepsTheRestOfThePage(t *testing.T) {
	repository(t)
	text := "before\n<!-- x: written by make bench-x -->\nold\n<!-- x end -->\nafter\n"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Report{Name: "x", Targets: []Target{AtLeast("rate", Exactly(1), 2)}}
	if err := r.Finish("new\n"); err == nil {
		t.Error("no error though a target is short")
	}
	got, err := os.ReadFile(page)
	if want := strings.Replace(text, "old", "new", 1); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := os.Stat(results + "/x.json"); err != nil {
		t.Error(err)
	}
	if err := (&Report{Name: "y"}).Finish(""); err == nil {
		t.Error("no error for a page without the marks")
	}
	if _, err := os.Stat(results + "/y.json"); err != nil {
		t.Errorf("the numbers are gone with the page: %v", err)
	}
}

func TestEvaluationIsMeasuredFromItsLog(t *testing.T) {
	l := Load{}
	log := "Start class A$RandomWriteTest at offset 0 for 5 rows\nStart class A$RandomWriteTest at offset 5 for 5 rows\n" +
		"Finished class A$RandomWriteTest in 7ms at offset 0 for 5 rows (1.0 MB/s)\n"
	last := "Finished class A$RandomWriteTest in 8ms at offset 5 for 5 rows (1.0 MB/s)\n"
	if err := l.follow(strings.NewReader(log+last), 2, os.Getpid(), os.Getpid()); err != nil || l.Seconds <= 0 || l.PeakMiB <= 0 {
		t.Errorf("got %+v, %v", l, err)
	}
	for _, bad := range []string{"", log, last + last} {
		if err := (&Load{}).follow(strings.NewReader(bad), 2, os.Getpid(), os.Getpid()); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

func TestEverySecondRoundIsInTheOppositeOrder(t *testing.T) {
	var got []string
	if err := Alternate(2, []string{"a", "b", "c"}, func(c string, round int) error {
		got = append(got, c+strconv.Itoa(round))
		return nil
	}); err != nil || strings.Join(got, " ") != "a1 b1 c1 c2 b2 a2" {
		t.Errorf("got %v, %v", got, err)
	}
}
