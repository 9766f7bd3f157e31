package replays

import (
	"strings"
	"testing"
	"time"
)

// TestSpanFlags checks that errors name the wrong flag. Package ingest tests the meaning of the texts.
func TestSpanFlags(t *testing.T) {
	for _, c := range []struct{ from, to, fault string }{
		{"", "latest", `--from "": "" is not partition:offset`},
		{"yesterday", "latest", `--from "yesterday": `},
		{"earliest", "0:1,0:2", `--to "0:1,0:2": partition 0 is named twice`},
		{"1969-01-01", "latest", `--from "1969-01-01": before 1970`},
		{"latest", "latest", "--from latest: nothing comes after the latest record"},
		{" latest ", "latest", "--from latest: nothing comes after the latest record"},
		{"earliest", "earliest", "--to earliest: nothing comes before the earliest record"},
	} {
		if _, err := Span(c.from, c.to, nil, time.Now()); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%q to %q: error %v, expected %q", c.from, c.to, err, c.fault)
		}
	}
}
