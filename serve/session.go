package serve

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"brine/account"
	"brine/rowkey"
	"brine/serve/client"
)

// Paths of the routes about the caller.
const (
	sessionPath = root + "/session"
	mePath      = root + "/me"
)

// ownRoutes returns the routes about the caller: signing in and out, the account, its password and its tokens.
func (s *Server) ownRoutes() []*endpoint {
	if s.opts.Accounts == nil {
		return nil
	}
	return append(s.companyRoutes(), []*endpoint{
		{method: http.MethodPost, path: sessionPath, id: "sign_in",
			about: "Sign in: start a session, whose token is the cookie " + cookieName + ".",
			body:  client.SignIn{}, answer: client.Me{}, role: anybody, secret: true, signsIn: true, handle: (*call).signIn},
		{method: http.MethodGet, path: sessionPath, id: "sign_in_ways", about: "List the ways to sign in.", role: anybody,
			answer: client.SignInWays{}, signsIn: true, handle: (*call).signInWays},
		{method: http.MethodDelete, path: sessionPath, id: "sign_out", about: "Sign out: end the session.", role: account.Customer,
			signedIn: true, answer: client.Done{}, handle: (*call).signOut},
		{method: http.MethodGet, path: mePath, id: "me", about: "Get the caller.", role: account.Customer, answer: client.Me{},
			handle: (*call).me},
		{method: http.MethodPost, path: mePath + "/password", id: "own_password",
			about: "Change the caller's password, end the account's sessions and start a new one.", role: account.Customer, signedIn: true,
			body: client.NewPassword{}, answer: client.Me{}, secret: true, handle: (*call).ownPassword},
		{method: http.MethodGet, path: mePath + "/tokens", id: "own_tokens", about: "List the API tokens of the caller's account.",
			role: account.Customer, answer: client.Tokens{}, handle: (*call).ownTokens},
		{method: http.MethodPost, path: mePath + "/tokens", id: "new_token",
			about: "Create an API token for the caller's account and return it, once.",
			role:  account.Customer, signedIn: true, body: client.NewToken{}, answer: client.MadeToken{}, handle: (*call).newToken},
		{method: http.MethodDelete, path: mePath + "/tokens/{id}", id: "revoke_token", about: "Revoke an API token of the caller's account.",
			role: account.Customer, signedIn: true,
			params: []param{{in: "path", name: "id", about: "ID of the token.", kind: rowkey.Int, required: true}},
			answer: client.Done{}, missing: true, handle: (*call).revokeToken},
	}...)
}

func (c *call) signIn() error {
	var given client.SignIn
	if err := c.body(&given); err != nil {
		return err
	}
	a, err := c.opts.Accounts.Check(c.ctx, given.Name, given.Password, c.network)
	if errors.Is(err, account.ErrRefused) {
		if err := c.audit("sign-in.refused", "", ""); err != nil {
			return err
		}
		return refuse(unsigned, "name or password is wrong")
	} else if err != nil {
		return c.accountError(err)
	}
	return c.begin(a, "sign-in")
}

// begin starts a session, and answers with its caller.
func (c *call) begin(a account.Account, action string) error {
	if err := c.begins(a, action, ""); err != nil {
		return err
	}
	return c.me()
}

// begins starts a session in place of the one that the request came with.
func (c *call) begins(a account.Account, action, object string) error {
	c.id = &account.Identity{Account: a, Role: a.Role}
	if err := c.audit(action, object, ""); err != nil {
		return err
	}
	if c.session != "" {
		if err := c.opts.Accounts.End(c.ctx, c.session); err != nil {
			return c.away(err)
		}
	}
	token, err := c.opts.Accounts.Begin(c.ctx, a)
	if errors.Is(err, account.ErrRefused) {
		return refuse(unsigned, "name or password is wrong")
	} else if err != nil {
		return c.away(err)
	}
	c.remember(token)
	return nil
}

func (c *call) signOut() error {
	if err := c.opts.Accounts.End(c.ctx, c.session); err != nil {
		return c.away(err)
	}
	c.forget()
	if err := c.audit("sign-out", "", ""); err != nil {
		return err
	}
	return c.json(client.Done{Done: true})
}

func (c *call) me() error {
	return c.json(client.Me{Name: c.id.Account.Name, Role: string(c.id.Role), Owner: c.id.Account.Owner})
}

func (c *call) ownPassword() error {
	var given client.NewPassword
	if err := c.body(&given); err != nil {
		return err
	}
	name := c.id.Account.Name
	if err := account.CheckPassword(name, given.Password); err != nil {
		return c.accountError(err)
	}
	err := c.opts.Accounts.Confirm(c.ctx, name, given.Old, c.network)
	if errors.Is(err, account.ErrRefused) {
		return wrong("body.old", "is not the password", "give the one that you signed in with")
	} else if err != nil {
		return c.accountError(err)
	}
	if err := c.audit("password", "", ""); err != nil {
		return err
	}
	if err := c.opts.Accounts.SetPassword(c.ctx, name, given.Password); err != nil {
		return c.accountError(err)
	}
	a, err := c.opts.Accounts.Get(c.ctx, name)
	if err != nil {
		return c.accountError(err)
	}
	return c.begin(a, "sign-in")
}

func (c *call) ownTokens() error {
	list, err := c.opts.Accounts.Tokens(c.ctx, c.id.Account)
	if err != nil {
		return c.away(err)
	}
	out := client.Tokens{Tokens: []client.Token{}}
	for i := range list {
		out.Tokens = append(out.Tokens, shownToken(&list[i]))
	}
	return c.json(out)
}

func (c *call) newToken() error {
	var given client.NewToken
	if err := c.body(&given); err != nil {
		return err
	}
	expires, err := time.Parse(time.RFC3339, given.Expires)
	if err != nil {
		return wrong("body.expires", "is not a time", "write it as 2027-01-31T00:00:00Z")
	}
	if err := c.audit("token.create", fmt.Sprintf("name=%q role=%q expires=%q", given.Name, given.Role, given.Expires), ""); err != nil {
		return err
	}
	text, t, err := c.opts.Accounts.NewToken(c.ctx, c.id.Account, given.Name, account.Role(given.Role), expires)
	if err != nil {
		return c.accountError(err)
	}
	return c.json(client.MadeToken{Token: text, About: shownToken(&t)})
}

func (c *call) revokeToken() error {
	id, err := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	if err != nil || id < 0 || id == math.MaxInt64 {
		return refuse(notThere, "there is no such token")
	}
	if err := c.audit("token.revoke", c.r.PathValue("id"), ""); err != nil {
		return err
	}
	switch err := c.opts.Accounts.Revoke(c.ctx, c.id.Account, id); {
	case errors.Is(err, account.ErrNotFound):
		return refuse(notThere, "there is no such token")
	case err != nil:
		return c.away(err)
	}
	return c.json(client.Done{Done: true})
}

// accountError converts an error of package account to a problem.
func (c *call) accountError(err error) error {
	rule, isRule := errors.AsType[*account.RuleError](err)
	pause, isPause := errors.AsType[*account.Delay](err)
	switch {
	case isRule:
		return wrong("body."+rule.Arg, rule.Msg, rule.Fix)
	case isPause:
		c.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(max(1, time.Until(pause.Until).Seconds())))))
		return refuse(tooMany, "too many wrong passwords; wait, and try again")
	case errors.Is(err, account.ErrBusy):
		return refuse(overloaded, "too many passwords are being checked")
	case errors.Is(err, account.ErrNotFound):
		return refuse(notThere, "there is no such account")
	case errors.Is(err, account.ErrTaken):
		return wrong("body.name", "belongs to another account", "choose another")
	}
	return c.away(err)
}

func shownToken(t *account.Token) client.Token {
	return client.Token{ID: t.ID, Name: t.Name, Role: string(t.Role),
		Created: timeText(t.Created), Expires: timeText(t.Expires), Used: timeText(t.Used)}
}

// timeText formats a time for answers; the zero time is empty.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
