package sqlconsole_test

import (
	"errors"
	"strings"
	"testing"

	"brine/sqlconsole"
)

// TestRefusals checks that errors have their position and a fix.
func TestRefusals(t *testing.T) {
	for statement, want := range map[string]string{
		"":                                       "line 1, column 1: ",
		"SELECT":                                 "line 1, column 7: ",
		"SELECT a":                               "line 1, column 9: ",
		"SELECT a FROM":                          "line 1, column 14: ",
		"SELECT a FROM t WHERE":                  "line 1, column 22: ",
		"SELECT a FROM t WHERE b":                "line 1, column 24: ",
		"SELECT a FROM t WHERE b = 1 OR c = 2":   "conditions can only be joined with AND",
		"SELECT a FROM t, u":                     "a statement reads one table",
		"SELECT a FROM t JOIN u":                 "a statement reads one table",
		"SELECT a FROM t\nWHERE b = 'x":          "line 2, column 11: this quote is not closed",
		"SELECT a FROM t LIMIT -1":               "line 1, column 23: ",
		"SELECT a FROM t LIMIT 10001":            "line 1, column 23: ",
		"DELETE FROM t":                          "statements only read",
		"SELECT LOAD_FILE('/etc/passwd') FROM t": "line 1, column ",
		"SELECT a INTO OUTFILE '/tmp/x' FROM t":  "line 1, column ",
		"SELECT SLEEP(10) FROM t":                "line 1, column ",
		"SET x = 1":                              "line 1, column 1: ",
		"SELECT a FROM t; SELECT b FROM t":       "line 1, column 18: ",
		"SELECT a FROM t WHERE b <> 1":           "there is no comparison for inequality",
		"SELECT a FROM t WHERE b IN ()":          "line 1, column ",
		"SELECT a AS b FROM t":                   "columns cannot be renamed",
		"SELECT a FROM t WHERE b = 1 AS OF '1h'": "AS OF belongs after the table",
		"SELECT a FROM t LIMIT 1 VERSIONS 2":     "VERSIONS belongs after the table",
		"SELECT a FROM t VERSIONS 0":             "not a number of versions",
		"SELECT a FROM t AS OF":                  "line 1, column 22: ",
		"SELECT a FROM t WHERE MATCH(b)":         "line 1, column 30: ",
		"SELECT a FROM t WHERE MATCH(b, 1)":      "words are expected",
		"SELECT MATCH(b, 'x') FROM t":            "MATCH is a condition",
		"SELECT \x00 FROM t":                     "has no meaning here",
		"SELECT \xff FROM t":                     "not UTF-8",
		strings.Repeat("x", 10_001):              "more than 10000",
	} {
		_, err := sqlconsole.Parse(statement)
		var refused *sqlconsole.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || refused.Line < 1 || refused.Column < 1 {
			t.Errorf("%q: %v, expected %q", statement, err, want)
		}
	}
}

// TestStatementsEndAtSemicolons checks that they do not end at semicolons within quotes and comments, and that positions count from the
// beginning of the text.
func TestStatementsEndAtSemicolons(t *testing.T) {
	all, whole := sqlconsole.Split("SELECT a FROM t; -- one; two\n\nSELECT \"b;\" FROM t WHERE c = ';'; SELECT nothing")
	if len(all) != 3 || whole {
		t.Fatalf("%+v, %v", all, whole)
	}
	if got := all[1]; got.Pos != (sqlconsole.Pos{Line: 3, Column: 1}) || got.Text != "SELECT \"b;\" FROM t WHERE c = ';'" {
		t.Errorf("%+v", got)
	}
	if _, err := all[2].Parse(); err == nil || !strings.HasPrefix(err.Error(), "line 3, column ") {
		t.Error(err)
	}
	if all, whole := sqlconsole.Split(" -- nothing\n"); len(all) != 0 || !whole {
		t.Errorf("%+v, %v", all, whole)
	}
}
