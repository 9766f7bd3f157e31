package main

import (
	"fmt"
	"time"

	"brine/account"
	"brine/internal/term"
)

type accountEnableCmd struct {
	accountFlags
	Name string `arg:"" help:"Name of the account."`
}

func (c *accountEnableCmd) Run(e *env) error { return c.set(e, c.Name, true) }

type accountDisableCmd struct {
	accountFlags
	Name string `arg:"" help:"Name of the account."`
}

func (c *accountDisableCmd) Run(e *env) error { return c.set(e, c.Name, false) }

func (f *accountFlags) set(e *env, name string, enabled bool) error {
	return f.with(e, "account.change", fmt.Sprintf("name=%q enabled=%v", name, enabled), func(s *account.Store) error {
		_, err := s.Change(e.ctx, name, account.Change{Enabled: &enabled})
		return err
	})
}

type accountPasswdCmd struct {
	accountFlags
	Name string `arg:"" help:"Name of the account."`
}

func (c *accountPasswdCmd) Run(e *env) error {
	return c.with(e, "account.password", fmt.Sprintf("name=%q", c.Name), func(s *account.Store) error {
		text, err := password(e)
		if err != nil {
			return err
		}
		return s.SetPassword(e.ctx, c.Name, text)
	})
}

type accountTokenCmd struct {
	accountFlags
	Name    string        `arg:"" help:"Name of the account."`
	For     string        `required:"" help:"Purpose of the token."`
	Role    string        `help:"Role of the token, at most the account's (default: the account's)."`
	Expires time.Duration `default:"720h" help:"How long the token is valid (default 30 days)."`
}

func (c *accountTokenCmd) Run(e *env) error {
	return c.with(e, "token.create", fmt.Sprintf("account=%q name=%q role=%q", c.Name, c.For, c.Role), func(s *account.Store) error {
		a, err := s.Get(e.ctx, c.Name)
		if err != nil {
			return err
		}
		role := a.Role
		if c.Role != "" {
			role = account.Role(c.Role)
		}
		text, _, err := s.NewToken(e.ctx, a, c.For, role, time.Now().Add(c.Expires))
		if err == nil {
			fmt.Fprintln(e.stdout, text)
		}
		return err
	})
}

type accountAuditCmd struct {
	accountFlags
	Account string `help:"Only actions of this account."`
	Limit   int    `default:"100" help:"Maximum number of entries (default 100)."`
}

func (c *accountAuditCmd) Run(e *env) error {
	return c.with(e, "", "", func(s *account.Store) error {
		list, err := s.Entries(e.ctx, 0, c.Account, max(1, c.Limit))
		if err != nil {
			return err
		}
		return inColumns(e.stdout, "AT\tACCOUNT\tROLE\tACTION\tOBJECT\tREASON\tFROM", func(row func(...any)) error {
			for _, x := range list {
				row(x.At.Format(time.RFC3339), x.Account, x.Role, x.Action, term.Line(x.Object), x.Reason, x.Address)
			}
			return nil
		})
	})
}
