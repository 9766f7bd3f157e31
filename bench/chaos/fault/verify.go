package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"brine/verify"
)

// differs is brine verify's exit code if it found differences.
const differs = 7

// Verdict is what brine verify reports about all tables and indexes.
type Verdict struct {
	Result   string            `json:"result"`
	Problems int64             `json:"problems"`
	Seconds  float64           `json:"seconds"`
	Rejected int64             `json:"rejected"`
	Lost     int64             `json:"lost"`
	Tables   []Verified        `json:"tables"`
	Examples []json.RawMessage `json:"examples,omitempty"`
	PeakMiB  float64           `json:"peak_mib"`
}

// Verified is the verdict on one table or index.
type Verified struct {
	Table string                `json:"table,omitempty"`
	Index string                `json:"index,omitempty"`
	Rows  int64                 `json:"rows"`
	Cells int64                 `json:"cells"`
	Found map[verify.Kind]int64 `json:"found"`
}

// Verify runs brine with a command that compares topics with tables and indexes and prints JSON. It prints the findings.
func Verify(cmd *exec.Cmd) (v Verdict, err error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != differs) {
		return v, fmt.Errorf("brine verify: %w", err)
	}
	for line := range bytes.Lines(out) {
		var l struct{ Finding, Result string }
		switch err := json.Unmarshal(line, &l); {
		case err != nil:
			return v, fmt.Errorf("brine verify printed %q: %w", line, err)
		case l.Finding != "":
			v.Examples = append(v.Examples, line)
			fmt.Printf("%s", line)
		case l.Result != "":
			if err := json.Unmarshal(line, &v); err != nil {
				return v, fmt.Errorf("brine verify printed %q: %w", line, err)
			}
		}
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		v.PeakMiB = float64(usage.Maxrss) / 1024
	}
	if v.Result == "" {
		return v, errors.New("brine verify printed no result")
	}
	return v, nil
}

// Found returns the number of findings of a kind in all tables and indexes.
func (v *Verdict) Found(kind verify.Kind) (n int64) {
	if kind == verify.Lost {
		return v.Lost
	}
	for _, t := range v.Tables {
		n += t.Found[kind]
	}
	return n
}

// Count returns the number of expected rows, or documents.
func (v *Verdict) Count(documents bool) (n int64) {
	for _, t := range v.Tables {
		if documents == (t.Index != "") {
			n += t.Rows
		}
	}
	return n
}
