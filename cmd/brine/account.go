package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"brine/account"
	ourterm "brine/internal/term"
	"brine/service/stores"
)

type accountCmd struct {
	Add     accountAddCmd     `cmd:"" help:"Create an account; its password is asked for, or read from the first line of stdin."`
	Import  accountImportCmd  `cmd:"" help:"Create accounts from another system's names and password hashes."`
	List    accountListCmd    `cmd:"" help:"List accounts."`
	Enable  accountEnableCmd  `cmd:"" help:"Enable an account."`
	Disable accountDisableCmd `cmd:"" help:"Disable an account: end its sessions and refuse its tokens."`
	Passwd  accountPasswdCmd  `cmd:"" help:"Change an account's password and end its sessions."`
	Token   accountTokenCmd   `cmd:"" help:"Create an API token for an account and print it, once."`
	Audit   accountAuditCmd   `cmd:"" help:"Show the audit log, newest entry first."`
}

// Help returns the detailed help of the command.
func (accountCmd) Help() string {
	return `Works on the database of accounts.connect itself, whether brine serve runs or not. No password is ever a flag.

Examples:
  brine account add admin --role admin
  pwgen -s 24 1 | brine account add u00042 --owner u00042
  brine account import accounts.ndjson
  brine account token ci --for deploys --expires 720h`
}

// accountFlags are the flags that select the accounts of a configuration.
type accountFlags struct{ configFlag }

// with opens the account store, writes an audit entry if action is not empty, and then runs do.
func (f *accountFlags) with(e *env, action, object string, do func(*account.Store) error) error {
	cfg, err := f.load(e)
	if err != nil {
		return err
	}
	if !cfg.HasAccounts() {
		return &exitError{exitUsage, errors.New("the configuration has no accounts"), `write accounts: { connect: "embedded:./data/accounts" }`}
	}
	s, err := account.Open(e.ctx, cfg.AccountOptions())
	if errors.Is(err, account.ErrDamaged) {
		return stores.DamagedAccounts(err)
	}
	if err != nil {
		return &exitError{exitUnreachable, err, "check accounts.connect, and that its server runs"}
	}
	defer closing("the accounts", s)
	if action != "" {
		who := "shell"
		if u, err := user.Current(); err == nil {
			who += " " + u.Username
		}
		if err := s.Audit(e.ctx, account.Entry{Action: action, Object: object, Address: who}); err != nil {
			return err
		}
	}
	err = do(s)
	if rule, ok := errors.AsType[*account.RuleError](err); ok {
		return &exitError{exitUsage, errors.New(rule.Arg + " " + rule.Msg), rule.Fix}
	}
	return err
}

// password reads a password from stdin. On a terminal it prompts twice.
func password(e *env) (string, error) {
	f, ok := e.stdin.(*os.File)
	if !ok || !ourterm.IsTerminal(e.stdin) {
		if e.stdin == nil {
			return "", usage(errors.New("no password: give it as the first line of stdin"))
		}
		return readLine(e.stdin), nil
	}
	var typed [2][]byte
	for i, prompt := range []string{"Password: ", "Once more: "} {
		fmt.Fprint(e.stderr, prompt)
		var err error
		typed[i], err = term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(e.stderr)
		if err != nil {
			return "", err
		}
	}
	if string(typed[0]) != string(typed[1]) {
		return "", usage(errors.New("the two passwords differ; nothing was changed"))
	}
	return string(typed[0]), nil
}

type accountAddCmd struct {
	accountFlags
	Name  string `arg:"" help:"Name of the account."`
	Role  string `default:"customer" enum:"customer,support,operator,admin" help:"Role: customer (default), support, operator or admin."`
	Owner string `help:"For the role customer: value of the owner field in the account's rows."`
}

func (c *accountAddCmd) Run(e *env) error {
	object := fmt.Sprintf("name=%q role=%q owner=%q", c.Name, c.Role, c.Owner)
	return c.with(e, "account.add", object, func(s *account.Store) error {
		text, err := password(e)
		if err != nil {
			return err
		}
		a, err := s.Add(e.ctx, c.Name, c.Owner, account.Role(c.Role), text)
		if err == nil {
			ourterm.Println(e.stdout, "%s already exists, with role %s", a.Name, a.Role)
		}
		return err
	})
}

type accountImportCmd struct {
	accountFlags
	File string `arg:"" type:"path" help:"File of JSON lines, as described in docs/accounts.md."`
}

func (c *accountImportCmd) Run(e *env) error {
	return c.with(e, "account.import", c.File, func(s *account.Store) error {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		bad := 0
		made, there, err := s.ImportAll(e.ctx, f, func(line int, err error) {
			bad++
			ourterm.Println(e.stderr, "%s:%d: %v", c.File, line, err)
		})
		ourterm.Println(e.stdout, "%d accounts created, %d already existed, %d lines cannot be imported", made, there, bad)
		if err == nil && bad > 0 {
			return errReported{exitFailed}
		}
		return err
	})
}

type accountListCmd struct{ accountFlags }

func (c *accountListCmd) Run(e *env) error {
	return c.with(e, "", "", func(s *account.Store) error {
		return inColumns(e.stdout, "NAME\tROLE\tOWNER\tSTATE\tSINCE", func(row func(...any)) error {
			for behind := ""; ; {
				list, err := s.List(e.ctx, behind, 1000)
				if err != nil || len(list) == 0 {
					return err
				}
				for _, a := range list {
					state := map[bool]string{true: "enabled", false: "disabled"}[a.Enabled]
					row(a.Name, a.Role, a.Owner, state, a.Created.Format(time.DateOnly))
					behind = a.Name
				}
			}
		})
	})
}

// inColumns prints a table with the given header.
func inColumns(to io.Writer, header string, rows func(row func(...any)) error) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, header)
	err := rows(func(cells ...any) {
		for i, c := range cells {
			fmt.Fprintf(w, "%s%s", map[bool]string{true: "\t"}[i > 0], ourterm.Line(fmt.Sprint(c)))
		}
		fmt.Fprintln(w)
	})
	return errors.Join(err, w.Flush())
}
