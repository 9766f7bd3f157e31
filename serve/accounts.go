package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/account"
	"brine/rowkey"
	"brine/serve/client"
)

// Paths of routes that only the operators' listener has.
const (
	opsPath      = root + "/ops"
	accountsPath = opsPath + "/accounts"
	auditPath    = opsPath + "/audit"
)

const opsPage = 100

// opsTable returns all routes of the operators' listener except the pages that describe them.
func (s *Server) opsTable() []*endpoint {
	routes := s.ownRoutes()
	if s.opts.Accounts != nil {
		routes = append(routes, accountRoutes()...)
	}
	if s.opts.Operations != nil {
		routes = append(routes, operationRoutes()...)
	}
	if s.opts.Accounts == nil { // callers are unknown
		routes = slices.DeleteFunc(routes, func(e *endpoint) bool {
			return e.method != http.MethodGet || strings.HasPrefix(e.path, jobsPath)
		})
	}
	return append(routes, s.sqlRoutes()...)
}

// accountRoutes returns the routes of all accounts, and of the audit.
func accountRoutes() []*endpoint {
	name := param{in: "path", name: "name", about: "Name of the account.", kind: rowkey.Text, required: true}
	page := param{in: "query", name: "page_token", about: "next_page_token of the previous page.", kind: rowkey.Text}
	return []*endpoint{
		{method: http.MethodGet, path: accountsPath, id: "accounts", about: "List accounts, sorted by name.", role: account.Admin,
			params: []param{page}, answer: client.Accounts{}, handle: (*call).accounts},
		{method: http.MethodPost, path: accountsPath, id: "new_account", about: "Create an account.", role: account.Admin,
			body: client.NewAccount{}, answer: client.Account{}, secret: true, handle: (*call).newAccount},
		{method: http.MethodGet, path: accountsPath + "/{name}", id: "account", about: "Get an account.", role: account.Admin,
			params: []param{name}, answer: client.Account{}, missing: true, handle: (*call).account},
		{method: http.MethodPatch, path: accountsPath + "/{name}", id: "change_account",
			about: "Change an account's role or owner, or enable or disable it, and end its sessions.", role: account.Admin,
			params: []param{name}, body: client.ChangedAccount{}, answer: client.Account{}, missing: true, handle: (*call).changeAccount},
		{method: http.MethodPost, path: accountsPath + "/{name}/password", id: "account_password",
			about: "Change an account's password and end its sessions.", role: account.Admin, params: []param{name},
			body: client.AccountPassword{}, answer: client.Done{}, secret: true, missing: true, handle: (*call).accountPassword},
		{method: http.MethodGet, path: auditPath, id: "audit", about: "Show the audit log, newest entry first.", role: account.Admin,
			params: []param{page, {in: "query", name: "account", about: "Only actions of this account.", kind: rowkey.Text}},
			answer: client.Audit{}, handle: (*call).auditPage},
	}
}

func (c *call) accounts() error {
	list, err := c.opts.Accounts.List(c.ctx, c.values.Get("page_token"), opsPage)
	if err != nil {
		return c.away(err)
	}
	out := client.Accounts{Accounts: []client.Account{}}
	for i := range list {
		out.Accounts = append(out.Accounts, shownAccount(&list[i]))
	}
	if len(list) == opsPage {
		out.Next = list[len(list)-1].Name
	}
	return c.json(out)
}

func shownAccount(a *account.Account) client.Account {
	return client.Account{Name: a.Name, Role: string(a.Role), Owner: a.Owner, Enabled: a.Enabled,
		Created: timeText(a.Created), Changed: timeText(a.Changed)}
}

func (c *call) account() error {
	a, err := c.opts.Accounts.Get(c.ctx, c.r.PathValue("name"))
	if err != nil {
		return c.accountError(err)
	}
	return c.json(shownAccount(&a))
}

func (c *call) newAccount() error {
	var given client.NewAccount
	if err := c.body(&given); err != nil {
		return err
	}
	object := fmt.Sprintf("name=%q role=%q owner=%q", given.Name, given.Role, given.Owner)
	if err := c.audit("account.add", object, ""); err != nil {
		return err
	}
	a, err := c.opts.Accounts.Add(c.ctx, given.Name, given.Owner, account.Role(given.Role), given.Password)
	if err != nil {
		return c.accountError(err)
	}
	return c.json(shownAccount(&a))
}

func (c *call) changeAccount() error {
	var given client.ChangedAccount
	if err := c.body(&given); err != nil {
		return err
	}
	name := c.r.PathValue("name")
	object := fmt.Sprintf("name=%q", name)
	change := account.Change{Owner: given.Owner, Enabled: given.Enabled}
	if given.Role != nil {
		role := account.Role(*given.Role)
		change.Role = &role
		object += fmt.Sprintf(" role=%q", role)
	}
	if given.Owner != nil {
		object += fmt.Sprintf(" owner=%q", *given.Owner)
	}
	if given.Enabled != nil {
		object += fmt.Sprintf(" enabled=%v", *given.Enabled)
	}
	if err := c.audit("account.change", object, ""); err != nil {
		return err
	}
	a, err := c.opts.Accounts.Change(c.ctx, name, change)
	if err != nil {
		return c.accountError(err)
	}
	return c.json(shownAccount(&a))
}

func (c *call) accountPassword() error {
	var given client.AccountPassword
	if err := c.body(&given); err != nil {
		return err
	}
	name := c.r.PathValue("name")
	if err := c.audit("account.password", fmt.Sprintf("name=%q", name), ""); err != nil {
		return err
	}
	if err := c.opts.Accounts.SetPassword(c.ctx, name, given.Password); err != nil {
		return c.accountError(err)
	}
	return c.json(client.Done{Done: true})
}

func (c *call) auditPage() error {
	before := int64(0)
	if text := c.values.Get("page_token"); text != "" {
		var err error
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return wrong("query.page_token", "is not the token of a previous page", "copy it unchanged from an answer")
		}
	}
	list, err := c.opts.Accounts.Entries(c.ctx, before, c.values.Get("account"), opsPage)
	if err != nil {
		return c.away(err)
	}
	out := client.Audit{Entries: []client.AuditEntry{}}
	for i := range list {
		e := &list[i]
		out.Entries = append(out.Entries, client.AuditEntry{ID: e.ID, At: e.At.UTC().Format(time.RFC3339Nano),
			Account: e.Account, Role: string(e.Role),
			Action: e.Action, Object: e.Object, Reason: e.Reason, Address: e.Address, Request: e.Request})
	}
	if len(list) == opsPage {
		out.Next = strconv.FormatInt(list[len(list)-1].ID, 10)
	}
	return c.json(out)
}
