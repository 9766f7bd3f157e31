package account

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/datadir"
	"brine/internal/datadir/datadirtest"
)

// people are the accounts of a folder, added one by one.
var people = []string{"anna", "bert", "clara", "dora", "emil", "fritz"}

// populated opens a folder and adds people.
func populated(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Connect: "embedded:" + dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range people {
		s.mustAdd(t, name, "owner of "+name, Customer)
	}
	return s
}

// namesIn returns the names in a folder, which it opens and closes again, or the error of Open.
func namesIn(t *testing.T, dir string) (names []string, err error) {
	t.Helper()
	s, err := Open(t.Context(), Options{Connect: "embedded:" + dir})
	if err != nil {
		return nil, err
	}
	rows, err := s.DB().QueryContext(t.Context(), "SELECT name FROM accounts ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return names, nil
}

// refused reports whether the folder is refused with the name of a file in it, also the second time.
func refused(t *testing.T, dir string) bool {
	t.Helper()
	_, err := namesIn(t, dir)
	if err == nil {
		return false
	}
	damage, ok := errors.AsType[*datadir.Damage](err)
	if !ok || !errors.Is(err, ErrDamaged) || filepath.Dir(damage.File) != dir {
		t.Errorf("refused with %v", err)
	}
	if _, again := namesIn(t, dir); again == nil || again.Error() != err.Error() {
		t.Errorf("refused with %v, and then with %v", err, again)
	}
	return true
}

// TestDamageIsNeverSilent checks that whatever happens to a file of a closed folder, all of its contents are there, or it is refused.
func TestDamageIsNeverSilent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	if err := populated(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	datadirtest.Each(t, dir, datadirtest.Damages, func(t *testing.T, dir, name string) {
		if refused(t, dir) {
			return
		}
		if name == file {
			t.Error("it opens")
		}
		if names, err := namesIn(t, dir); err != nil || !slices.Equal(names, people) {
			t.Errorf("%v, %v", names, err)
		}
	})
}

// TestDamageAfterAKillIsNeverSilent checks that a folder that was not closed misses nothing except the last transaction, which may have
// been torn.
func TestDamageAfterAKillIsNeverSilent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	s := populated(t, dir)
	defer s.Close()
	killed := datadirtest.Copy(t, dir)
	if names, err := namesIn(t, datadirtest.Copy(t, dir)); err != nil || !slices.Equal(names, people) {
		t.Fatalf("after the kill: %v, %v", names, err)
	}
	refusals := map[string]int{}
	datadirtest.Each(t, killed, datadirtest.Damages, func(t *testing.T, dir, name string) {
		if refused(t, dir) {
			refusals[name]++
			return
		}
		if names, err := namesIn(t, dir); err != nil || !slices.Equal(names, people) && !slices.Equal(names, people[:len(people)-1]) {
			t.Errorf("%v, %v", names, err)
		}
	})
	if refusals[file] < 2 || refusals[walFile] < 5 { // the log has newer versions of most pages
		t.Errorf("refused: %v", refusals)
	}
}

// TestLogIsReadAsFarAsItIsWhole cuts and changes the log everywhere: what was committed before the last transaction is there, or reported
// as missing.
func TestLogIsReadAsFarAsItIsWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	s := populated(t, dir)
	defer s.Close()
	log, err := os.ReadFile(filepath.Join(dir, walFile))
	if err != nil {
		t.Fatal(err)
	}
	mark, err := os.ReadFile(filepath.Join(dir, openFile))
	if err != nil {
		t.Fatal(err)
	}
	noted := decodeExtent(mark)
	if noted.end <= logHeader || noted.end >= int64(len(log)) {
		t.Fatalf("noted up to %d of %d bytes", noted.end, len(log))
	}
	check := func(log []byte) error {
		path := filepath.Join(t.TempDir(), walFile)
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
		return checkLog(path, noted)
	}
	for cut := 0; cut <= len(log); cut += 997 {
		if err := check(log[:cut]); (err != nil) != (int64(cut) < noted.end) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d of %d: %v", cut, noted.end, err)
		}
	}
	for at := 0; at < int(noted.end); at += 499 {
		if err := check(datadirtest.Flipped(log, at)); !errors.Is(err, ErrDamaged) {
			t.Errorf("changed at %d: %v", at, err)
		}
	}
	noted.salts[7]++ // a log that was restarted since the note is not compared with it
	if err := check(log); err != nil {
		t.Errorf("begun again: %v", err)
	}
	if err := check(datadirtest.Flipped(log, len(log)/2)); !errors.Is(err, ErrDamaged) {
		t.Errorf("begun again, and changed: %v", err)
	}
}

// TestFolderOfSeveralProcesses checks that a process that opens an open database does not check it, and that only the last one to close it
// seals it.
func TestFolderOfSeveralProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	one := populated(t, dir)
	two, err := Open(t.Context(), Options{Connect: "embedded:" + dir})
	if err != nil {
		t.Fatal(err)
	}
	sealed := func() bool {
		_, err := os.Stat(filepath.Join(dir, datadir.InventoryFile))
		return err == nil
	}
	if err := one.Close(); err != nil || sealed() {
		t.Errorf("the first one: %v, sealed: %v", err, sealed())
	}
	if _, err := Repair(t.Context(), dir, dir+".aside"); !errors.Is(err, ErrInUse) {
		t.Errorf("a repair: %v", err)
	}
	two.mustAdd(t, "gerd", "", Admin)
	if err := two.Close(); err != nil || !sealed() {
		t.Errorf("the last one: %v, sealed: %v", err, sealed())
	}
	if names, err := namesIn(t, dir); err != nil || len(names) != len(people)+1 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestOlderFolder checks that a folder of a brine that recorded nothing opens, and is read in full first.
func TestOlderFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	if err := populated(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{datadir.InventoryFile, openFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	whole := datadirtest.Copy(t, dir)
	if names, err := namesIn(t, whole); err != nil || !slices.Equal(names, people) {
		t.Errorf("%v, %v", names, err)
	}
	datadirtest.Half.Apply(t, filepath.Join(dir, file))
	if !refused(t, dir) {
		t.Error("half of a database opens")
	}
}

// TestRepair checks that a damaged folder is moved aside whole, with its contents, and that a new one can be made in its place; a whole one
// stays.
func TestRepair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	aside := filepath.Join(t.TempDir(), "aside")
	if is, err := Repair(t.Context(), dir, aside); is != nil || err != nil {
		t.Errorf("of no folder: %+v, %v", is, err)
	}
	if err := populated(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if is, err := Repair(t.Context(), dir, aside); is != nil || err != nil {
		t.Errorf("of a whole one: %+v, %v", is, err)
	}
	if names, err := namesIn(t, dir); err != nil || !slices.Equal(names, people) {
		t.Fatalf("%v, %v", names, err)
	}
	for _, c := range []struct {
		damage datadirtest.Damage
		lost   string
	}{
		{datadirtest.Gone, unreadable[0]},
		{datadirtest.Damage{Name: "a byte more", Do: func(f []byte) []byte { return append(f, 0) }}, fmt.Sprintf("%d rows of table accounts", len(people))},
	} {
		t.Run(c.damage.Name, func(t *testing.T) {
			dir, aside := datadirtest.Copy(t, dir), filepath.Join(t.TempDir(), "aside")
			c.damage.Apply(t, filepath.Join(dir, file))
			before, err := os.ReadFile(filepath.Join(dir, file))
			is, errRepair := Repair(t.Context(), dir, aside)
			if errRepair != nil || is == nil || !errors.Is(is.Err, ErrDamaged) || !slices.Contains(is.Lost, c.lost) {
				t.Fatalf("%+v, %v", is, errRepair)
			}
			after, errAfter := os.ReadFile(filepath.Join(aside, file))
			if string(after) != string(before) || errors.Is(err, os.ErrNotExist) != errors.Is(errAfter, os.ErrNotExist) {
				t.Errorf("%d bytes were set aside as %d: %v", len(before), len(after), errAfter)
			}
			if names, err := namesIn(t, dir); err != nil || len(names) > 0 {
				t.Errorf("the next start: %v, %v", names, err)
			}
		})
	}
}

// TestSQLiteSaysWhatIsDamaged checks that the message has the file and SQLite's words, and not only a driver's text.
func TestSQLiteSaysWhatIsDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Repeat("these are not accounts\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := namesIn(t, dir)
	if want := filepath.Join(dir, file) + " is damaged: SQLite says: "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
