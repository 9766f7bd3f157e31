package embedded_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// childDir is the environment variable that makes the test binary the child to be killed.
const childDir = "BRINE_EMBEDDED_CHILD"

// child runs a server and a writer in one process. It prints the number of every acknowledged row.
func child(dir string) {
	s, err := embedded.Start(embedded.Options{Dir: dir})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	t := &fatal{}
	regions := create(t, s.Addr(), "t", []string{"00000050"}, family("e"))
	c := dial(t, s.Addr(), "ClientService")
	for n := 0; ; n++ {
		row := fmt.Appendf(nil, "%08d", n)
		region := regions[0]
		if n >= 50 {
			region = regions[1]
		}
		block := wire.AppendCell(nil, wire.Cell{Row: row, Family: []byte("e"), Qualifier: []byte("a"), Timestamp: int64(n), Type: 4, Value: row})
		block = wire.AppendCell(block, wire.Cell{Row: row, Family: []byte("e"), Qualifier: []byte("b"), Timestamp: int64(n), Type: 4, Value: row})
		c.multi(wire.AppendRegionAction(nil, region, []wire.Mutation{{Row: row, Cells: 2}}), block)
		fmt.Println(n)
	}
}

// fatal is a testing.TB for a process that is not a test.
type fatal struct{ testing.TB }

func (*fatal) Helper()        {}
func (*fatal) Cleanup(func()) {}
func (*fatal) Fatal(args ...any) {
	fmt.Println(append([]any{"error:"}, args...)...)
	os.Exit(1)
}
func (f *fatal) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }
func (f *fatal) Error(args ...any)                 { f.Fatal(args...) }

// A process killed with kill -9 in mid-stream has every acknowledged row, and whole rows only, when it starts again.
func TestAcknowledgedSurvivesKill(t *testing.T) {
	for _, after := range []int{1, 40, 700} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		last := -1
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("child: %s", lines.Text())
			}
			if last = n; n == after {
				cmd.Process.Kill() // and read on: rows in the pipe were acknowledged
			}
		}
		cmd.Wait()
		if last < after {
			t.Fatalf("the child ended after row %d", last)
		}
		s := start(t, embedded.Options{Dir: dir})
		checkRows(t, s, last)
	}
}

func checkRows(t *testing.T, s *embedded.Server, last int) {
	t.Helper()
	c := dial(t, s.Addr(), "ClientService")
	n := 0
	for _, name := range regionsOf(t, s.Addr(), "t") {
		r := &hbasepb.ScanResponse{}
		rows := uint32(1 << 20)
		cells := cellsOf(t, c.must("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: &rows}, r, nil))
		for i := 0; i < len(cells); i, n = i+2, n+1 {
			want := fmt.Sprintf("%08d", n)
			if string(cells[i].Row) != want || string(cells[i].Value) != want || string(cells[i+1].Row) != want || string(cells[i+1].Qualifier) != "b" {
				t.Fatalf("row %s is not whole: %v %v", want, cells[i], cells[i+1])
			}
		}
	}
	if n <= last {
		t.Fatalf("%d rows, but %d were acknowledged", n, last+1)
	}
}
