package schema

import (
	"cmp"
	"errors"
	"strings"
	"unicode/utf8"

	"brine/config"
	"brine/rowkey"
)

// CheckKey returns the findings about a table's key that depend on the numbers of servers and regions.
func CheckKey(t *config.Table, file string, servers, regions int) config.Problems {
	var found config.Problems
	key := t.RowKeys().Newest()
	if key == nil {
		return nil
	}
	for _, f := range key.Lint(rowkey.LintOptions{Servers: servers, Regions: regions}) {
		if strings.HasPrefix(f.Rule, "few-") {
			found = append(found, config.Problem{Code: config.Code("key-" + f.Rule), Severity: config.Severity(f.Severity), File: file,
				Setting: "tables." + t.Name, Message: f.Msg, Fix: f.Fix})
		}
	}
	return found
}

// LintKey returns the findings about a key that is not yet in any table, as findings in a file of one line.
func LintKey(file, key string, fields []rowkey.Field, o rowkey.LintOptions) config.Problems {
	problem := func(f rowkey.Finding) config.Problem {
		return config.Problem{Code: config.Code("key-" + f.Rule), Severity: config.Severity(f.Severity), File: file, Line: 1,
			Column: 1 + utf8.RuneCountInString(key[:f.Offset]), Message: f.Msg, Fix: f.Fix}
	}
	parsed, err := rowkey.Parse(key, fields)
	if wrong, ok := errors.AsType[*rowkey.SyntaxError](err); ok {
		return config.Problems{problem(rowkey.Finding{Rule: cmp.Or(wrong.Rule, "syntax"), Severity: rowkey.Severity(config.Error),
			Offset: wrong.Offset, Msg: wrong.Msg, Fix: wrong.Fix})}
	}
	var found config.Problems
	for _, f := range parsed.Lint(o) {
		found = append(found, problem(f))
	}
	return found
}
