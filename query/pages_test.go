package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"brine/hbase"
	"brine/query"
	"brine/rowkey"
	"brine/sink"
)

// TestPagesOfServersAreStableUnderWrites pages through a salted table while rows are written into it between pages, and the row that the
// token names is deleted: each row that does not change is returned once.
func TestPagesOfServersAreStableUnderWrites(t *testing.T) { onBoth(t, pagesAreStableUnderWrites) }

func pagesAreStableUnderWrites(t *testing.T, client *hbase.Client) {
	const rows, size = 120, 7
	v := newVisits(t, client, "pages", sink.RowEntity, rowkey.One(visitKey(t, `salt(8, user, id) + asc(at, ms) + user + "|" + id`)))
	random := rand.New(rand.NewPCG(3, 9))
	visit := func(id string, at int, gone bool) string {
		return fmt.Sprintf(`{"user":"u","at":%d,"id":%q,"v":%d,"page":"p","gone":%v}`, at, id, 10+at, gone)
	}
	var first []string
	for i := range rows {
		first = append(first, visit(fmt.Sprintf("i%d", i), 2*i, false))
	}
	v.write(t, first...)
	came, new := map[int]int{}, 0
	for after := query.Token(""); ; new++ {
		page, token := v.read(t, nil, query.Options{Limit: size, After: after})
		last := -1
		for _, row := range page {
			if _, err := fmt.Sscanf(row[strings.Index(row, "id="):], "id=i%d ", &last); err == nil {
				came[last]++
			}
		}
		if len(page) < size {
			break
		}
		after = token
		v.write(t, visit(fmt.Sprintf("new%d", new), 2*random.IntN(rows)+1, false))
		if last >= 0 && random.IntN(2) == 0 {
			v.write(t, strings.Replace(visit(fmt.Sprintf("i%d", last), 2*last, true), `"v":`, `"v":1`, 1)) // a later version
		}
	}
	for i := range rows {
		if came[i] != 1 {
			t.Errorf("row i%d came %d times", i, came[i])
		}
	}
	if new < rows/size {
		t.Errorf("only %d pages", new)
	}
}
