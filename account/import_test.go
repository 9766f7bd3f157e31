package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/internal/testenv"
)

// testImportAll imports lines of which some cannot be imported, twice: the second time, all that can be is there.
func testImportAll(t *testing.T, s *Store, _ *testenv.Clock) {
	hash := foreign["bcrypt"]
	s.mustAdd(t, "max", "u9", Customer)
	account := func(name, owner, more string) string {
		return fmt.Sprintf(`{"name": %q, "owner": %q, "hash": %q%s}`, name, owner, hash, more)
	}
	lines := []string{
		1:  account("Zoe", "u1", ""),
		2:  account("zoe", "u1", ""), // the same person
		3:  account("ZOE", "u2", ""),
		4:  account("ｚｏｅ", "u3", ""),
		5:  account("Straße", "u4", ""),
		6:  account("STRASSE", "u5", ""),
		7:  account("zoe", "u1", `, "role": "support"`),
		8:  account("Max", "u6", ""), // exists, with another owner
		9:  account("MAX", "u9", ""), // line 8 has it
		10: account("long", "u7", strings.Repeat(" ", 9000)),
		11: account("longer", "u7", strings.Repeat(" ", 100_000)),
		12: "",
		13: account("a b", "u8", ""),
		14: `{"name": "no"`,
		15: account("ann", "u10", ""),
	}
	text := strings.Join(lines[1:], "\n")
	want := map[int]string{
		3: "name is the name on line 1,", 4: "name is the name on line 1,", 6: "name is the name on line 5,", 7: "name is the name on line 1,",
		8: "name is that of an existing account", 9: "name is the name on line 8,", 10: "line has more than 8192 bytes; write each",
		11: "line has more than 8192 bytes; write each", 13: "name contains characters", 14: "is not a JSON object",
	}
	for i, end := range []string{"", "\n"} {
		got := map[int]string{}
		made, there, err := s.ImportAll(t.Context(), strings.NewReader(text+end), func(n int, err error) {
			if strings.Contains(err.Error(), hash) {
				t.Errorf("line %d: the hash is quoted: %v", n, err)
			}
			got[n] = err.Error()
		})
		if err != nil || made != []int{3, 0}[i] || there != []int{1, 4}[i] || len(got) != len(want) {
			t.Errorf("import %d: %d made, %d there, %v; %v", i+1, made, there, got, err)
		}
		for n, begin := range want {
			if !strings.Contains(got[n], begin) {
				t.Errorf("import %d, line %d: %q, want %q", i+1, n, got[n], begin)
			}
		}
	}
	for name, owner := range map[string]string{"zoe": "u1", "strasse": "u4", "max": "u9", "ann": "u10"} {
		if a, err := s.Get(t.Context(), name); err != nil || a.Owner != owner {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// testImportGroups imports more than one transaction holds, with a name in a later one that an earlier one has, and breaks off.
func testImportGroups(t *testing.T, s *Store, _ *testenv.Clock) {
	var text strings.Builder
	for i := range 3 * importGroup {
		fmt.Fprintf(&text, "{\"name\": \"user%d\", \"owner\": \"u%d\", \"hash\": %q}\n", i%(2*importGroup+7), i, foreign["bcrypt"])
	}
	var bad []int
	broken := errors.New("the disk is gone")
	made, there, err := s.ImportAll(t.Context(), &cutOff{strings.NewReader(text.String()), broken}, func(n int, _ error) { bad = append(bad, n) })
	if !errors.Is(err, broken) || made != 2*importGroup+7 || there != 0 || len(bad) != importGroup-7 || !slices.IsSorted(bad) || bad[0] != 2*importGroup+8 {
		t.Errorf("%d made, %d there, %d lines reported, from %v; %v", made, there, len(bad), bad[:1], err)
	}
}

// cutOff is a file whose end cannot be read.
type cutOff struct {
	*strings.Reader
	err error
}

func (c *cutOff) Read(b []byte) (int, error) {
	if c.Len() == 0 {
		return 0, c.err
	}
	return c.Reader.Read(b)
}
