package hbasetest

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Client runs scripts against the server at connect ("rpc://host:port"), with prefix before every name of a table or
// namespace, and returns the answers of each.
type Client func(t *testing.T, connect, prefix string, scripts []*Script) []Answers

// Run runs the scripts with a client against a server and compares the answers with those in the files, one subtest for
// each script. With update it writes them into the files instead.
func Run(t *testing.T, client Client, connect, prefix string, scripts []*Script, update bool) {
	answers := client(t, connect, prefix, scripts)
	for i, s := range scripts {
		t.Run(strings.TrimSuffix(s.Name(), ".txt"), func(t *testing.T) {
			got := s.With(answers[i])
			if update {
				if err := os.WriteFile(s.Path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(s.Text(), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("answers differ (- wanted, + got):\n%s", diff)
			}
		})
	}
}
