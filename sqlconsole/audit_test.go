package sqlconsole_test

import (
	"testing"

	"brine/mask"
	"brine/sqlconsole"
)

// TestAudited checks that the audited form of a statement has the same meaning, without the values that are compared with masked columns.
func TestAudited(t *testing.T) {
	_, catalog := load(t, "orders")
	masked := *catalog
	masked.Masks = &mask.Rules{}
	masked.Masks.Place(catalog.Tables[0].Name, "user")
	for statement, want := range map[string][2]string{
		"select * from orders -- it's user u1": {"SELECT * FROM orders"},
		"EXPLAIN SELECT user, count(*) , _time(\"s\") FROM orders WHERE user = 'o''hara' AND n BETWEEN -1 AND 2.5 AND s IS NOT NULL": {
			`EXPLAIN SELECT user, COUNT(*), _time("s") FROM orders WHERE user = 'o''hara' AND n BETWEEN -1 AND 2.5 AND s IS NOT NULL`,
			`EXPLAIN SELECT user, COUNT(*), _time("s") FROM orders WHERE user = '***' AND n BETWEEN -1 AND 2.5 AND s IS NOT NULL`},
		`SELECT "a""b" FROM orders WHERE user IN ('a','b') AND s LIKE 'p%' AND gone = true GROUP BY s ORDER BY at DESC LIMIT 0 ALLOW FULL SCAN;`: {
			`SELECT "a""b" FROM orders WHERE user IN ('a', 'b') AND s LIKE 'p%' AND gone = true GROUP BY s ORDER BY at DESC LIMIT 0 ALLOW FULL SCAN`,
			`SELECT "a""b" FROM orders WHERE user IN ('***', '***') AND s LIKE 'p%' AND gone = true GROUP BY s ORDER BY at DESC LIMIT 0 ALLOW FULL SCAN`},
		"SELECT user FROM orders AS OF '2h' WHERE MATCH(user, 'o''hara')": {"SELECT user FROM orders AS OF '2h' WHERE MATCH(user, 'o''hara')",
			"SELECT user FROM orders AS OF '2h' WHERE MATCH(user, '***')"},
		"SELECT user FROM orders VERSIONS 3 LIMIT 5": {"SELECT user FROM orders VERSIONS 3 LIMIT 5"},
		"SELECT a FROM nosuch WHERE b = 'x'":         {"SELECT a FROM nosuch WHERE b = '***'", "SELECT a FROM nosuch WHERE b = '***'"},
	} {
		s, err := sqlconsole.Parse(statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if want[1] == "" {
			want[1] = want[0]
		}
		for i, c := range []*sqlconsole.Catalog{catalog, &masked} {
			got := c.Audited(s)
			if got != want[i] {
				t.Errorf("%s\nis audited as %s\nnot as %s", statement, got, want[i])
			}
			again, err := sqlconsole.Parse(got)
			if err != nil || c.Audited(again) != got {
				t.Errorf("%s\nsays something else than %s: %v", got, statement, err)
			}
		}
	}
}
