package account

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Imported is an account from another system: one line of ImportAll's input.
type Imported struct {
	Name     string `json:"name"`
	Owner    string `json:"owner"`
	Role     Role   `json:"role"` // empty: customer
	Hash     string `json:"hash"`
	Disabled bool   `json:"disabled"`
}

const (
	maxImported = 8 << 10 // bytes per line
	importGroup = 500     // accounts per transaction
)

// ImportAll creates an account for each line of JSON. It returns the number of accounts that it created, and of those that already existed,
// which it leaves as they are. It reports lines that cannot be imported by their numbers, without quoting them, and continues with the
// others. Names that differ only in case or width are one account, so a line whose name is that of another owner's account, in the file or
// in the database, cannot be imported.
func (s *Store) ImportAll(ctx context.Context, r io.Reader, wrong func(line int, err error)) (made, there int, err error) {
	i := importing{store: s, wrong: wrong, lines: map[string]int{}, owners: map[string]owned{}}
	lines := bufio.NewReaderSize(r, maxImported)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return i.made, i.there, errors.Join(i.flush(ctx), fmt.Errorf("line %d: %w", n, err))
		}
		ended := err != nil
		if long {
			wrong(n, &RuleError{"line", fmt.Sprintf("has more than %d bytes", maxImported), "write each account on a line of its own"})
		} else if err := i.add(ctx, n, line); err != nil {
			return i.made, i.there, err
		}
		if ended {
			return i.made, i.there, i.flush(ctx)
		}
	}
}

// importing is one ImportAll.
type importing struct {
	store       *Store
	wrong       func(line int, err error)
	group       []Imported
	at          []int            // lines of group
	lines       map[string]int   // of the first account with a name
	owners      map[string]owned // by name
	made, there int
}

// owned is whose rows an account may read.
type owned struct {
	owner string
	role  Role
}

// add adds a line to the group of the next transaction.
func (i *importing) add(ctx context.Context, n int, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	a, err := parseImported(line)
	if err != nil {
		i.wrong(n, err)
		return nil
	}
	of := owned{a.Owner, a.Role}
	if first, twice := i.lines[a.Name]; twice {
		if i.owners[a.Name] == of {
			i.there++
		} else {
			i.wrong(n, collides(fmt.Sprintf("is the name on line %d, which has another owner or role", first)))
		}
		return nil
	}
	i.lines[a.Name], i.owners[a.Name] = n, of
	i.group, i.at = append(i.group, a), append(i.at, n)
	if len(i.group) < importGroup {
		return nil
	}
	return i.flush(ctx)
}

// collides returns the error of a name that somebody else has.
func collides(msg string) error {
	return &RuleError{"name", msg + "; names that differ only in case or width are one account",
		"give one of the two another name in the file, and let its owner know"}
}

// flush creates the group's accounts.
func (i *importing) flush(ctx context.Context) error {
	if len(i.group) == 0 {
		return nil
	}
	created, present, err := i.store.importGroup(ctx, i.group)
	if err != nil {
		return err
	}
	for at, a := range i.group {
		switch had, existed := present[a.Name]; {
		case created[at]:
			i.made++
		case existed && had != owned{a.Owner, a.Role}:
			i.wrong(i.at[at], collides("is that of an existing account with another owner or role"))
		default:
			i.there++
		}
	}
	i.group, i.at = i.group[:0], i.at[:0]
	return nil
}

func parseImported(line []byte) (a Imported, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if d.Decode(&a) != nil || d.More() { // the error could quote the hash
		return a, errors.New("is not a JSON object with the texts name, owner, role and hash, and optionally disabled")
	}
	if a.Role == "" {
		a.Role = Customer
	}
	name, err := Normalise(a.Name)
	a.Name = name
	return a, errors.Join(err, checkRole(a.Role, a.Owner), CheckHash(a.Hash))
}

// importGroup creates accounts unless there are some with their names. It returns which ones it created, and the present owners of the
// others.
func (s *Store) importGroup(ctx context.Context, group []Imported) (created []bool, present map[string]owned, err error) {
	insert := "INSERT INTO accounts (name, owner, role, enabled, hash, created, changed) VALUES (?, ?, ?, ?, ?, ?, ?) "
	insert += map[Dialect]string{SQLite: "ON CONFLICT (name) DO NOTHING", MySQL: "ON DUPLICATE KEY UPDATE id = id"}[s.dialect]
	now := s.now()
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		created = make([]bool, len(group))
		var others []any
		for i, a := range group {
			res, err := tx.ExecContext(ctx, insert, a.Name, a.Owner, string(a.Role), !a.Disabled, a.Hash, now, now)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			if created[i] = n > 0; !created[i] {
				others = append(others, a.Name)
			}
		}
		present, err = ownersOf(ctx, tx, others)
		return err
	})
	return created, present, err
}

// ownersOf returns the owners of accounts by name.
func ownersOf(ctx context.Context, tx *sql.Tx, names []any) (map[string]owned, error) {
	if len(names) == 0 {
		return nil, nil
	}
	rows, err := tx.QueryContext(ctx,
		"SELECT name, owner, role FROM accounts WHERE name IN (?"+strings.Repeat(", ?", len(names)-1)+")", names...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]owned{}
	for rows.Next() {
		var name string
		var o owned
		if err := rows.Scan(&name, &o.owner, &o.role); err != nil {
			return nil, err
		}
		out[name] = o
	}
	return out, rows.Err()
}
