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
// others.
func (s *Store) ImportAll(ctx context.Context, r io.Reader, wrong func(line int, err error)) (made, there int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxImported)
	var group []Imported
	flush := func() error {
		n, err := s.importGroup(ctx, group)
		made, there, group = made+n, there+len(group)-n, group[:0]
		return err
	}
	n := 0
	for lines.Scan() {
		if n++; len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		a, err := parseImported(lines.Bytes())
		if err != nil {
			wrong(n, err)
			continue
		}
		if group = append(group, a); len(group) == importGroup {
			if err := flush(); err != nil {
				return made, there, err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return made, there, errors.Join(flush(), fmt.Errorf("line %d: %w", n+1, err))
	}
	return made, there, flush()
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

func (s *Store) importGroup(ctx context.Context, group []Imported) (made int, err error) {
	insert := "INSERT INTO accounts (name, owner, role, enabled, hash, created, changed) VALUES (?, ?, ?, ?, ?, ?, ?) "
	insert += map[Dialect]string{SQLite: "ON CONFLICT (name) DO NOTHING", MySQL: "ON DUPLICATE KEY UPDATE id = id"}[s.dialect]
	now := s.now()
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		made = 0
		for _, a := range group {
			res, err := tx.ExecContext(ctx, insert, a.Name, a.Owner, string(a.Role), !a.Disabled, a.Hash, now, now)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			made += int(min(n, 1))
		}
		return nil
	})
	return made, err
}
