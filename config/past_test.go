package config

import (
	"strings"
	"testing"
	"time"

	"brine/sqlconsole"
)

// TestOnlyTimesHaveAPast checks that rows cannot be read as of a time if their versions are something else, such as positions in a log, but
// that the versions themselves can be.
func TestOnlyTimesHaveAPast(t *testing.T) {
	const refused = "line 1, column 23: the versions of table t are not times; write VERSIONS 10"
	for _, c := range []struct{ fields, version, want string }{
		{"", "", ""},
		{", at: time_ms", "version: at", ""},
		{", at: time_s", "version: at", ""},
		{", lsn: int", "version: lsn(lsn)", refused},
		{", file: text, pos: int", "version: binlog(file, pos)", refused},
		{", position: text", "version: binlog(position)", refused},
		{", at: time_ms, n: int", "version: seq(at, n)", refused},
		{", n: int", "version: n", refused},
	} {
		text := strings.NewReplacer("v: text }", "v: text"+c.fields+" }\n    "+c.version, "families: { e: {} }", "families: { e: { versions: 3 } }").Replace(minimal)
		cfg, problems := Parse("brine.yaml", []byte(text), environ())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		catalog, err := cfg.Catalog()
		if err != nil {
			t.Fatal(err)
		}
		plan := func(statement string) string {
			s, err := sqlconsole.Source{Text: statement, Pos: sqlconsole.Pos{Line: 1, Column: 1}}.Parse()
			if err == nil {
				_, err = catalog.Plan(s, time.UnixMilli(1e12))
			}
			if err != nil {
				return err.Error()
			}
			return ""
		}
		if got := plan("SELECT v FROM t AS OF '2h' WHERE id = 'a'"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.version, got, c.want)
		}
		if got := plan("SELECT v FROM t VERSIONS 3 WHERE id = 'a'"); got != "" {
			t.Errorf("%s: the versions of rows: %s", c.version, got)
		}
	}
}
