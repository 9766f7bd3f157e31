package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"brine/account"
	"brine/account/oidc"
	"brine/rowkey"
	"brine/serve/client"
)

// Routes for sign-ins by a company's provider. Browsers start at the first and come back to the second.
const (
	companyPath = sessionPath + "/oidc"
	// CompanyReturn is the path that the provider sends browsers back to, on the users' listener.
	CompanyReturn = companyPath + "/return"
)

// Cookies with sealed contents.
const (
	startedCookie = "__Host-brine-oidc"         // a sign-in that this browser has started
	refusedCookie = "__Host-brine-oidc-refused" // why one was refused, until the console has shown it
)

const (
	refusedAge = 60 // seconds
	signInPage = "/signin"
)

// companyRoutes returns routes of the users' listener only, because the provider knows only one address. A session that starts there is
// also valid on the operators' listener of the same host.
func (s *Server) companyRoutes() []*endpoint {
	if s.opts.Company == nil || s.ops {
		return nil
	}
	var params []param
	for _, p := range [][2]string{{"code", "Authorization code of the provider."}, {"state", "State of the sign-in."},
		{"error", "Error of the provider, if it refuses."}, {"iss", "Issuer, if the provider sends it (RFC 9207)."}} {
		params = append(params, param{in: "query", name: p[0], about: p[1], kind: rowkey.Text})
	}
	return []*endpoint{
		{method: http.MethodGet, path: companyPath, id: "company_sign_in", about: "Start a sign-in through the company's OpenID provider.",
			role: anybody, signsIn: true, leads: "Redirect to the provider; if refused, to the console's sign-in, which shows why.",
			handle: func(c *call) error { return c.inConsole((*call).companySignIn) }},
		{method: http.MethodGet, path: CompanyReturn, id: "company_return",
			about: "Complete such a sign-in: start a session and redirect to the console.",
			role:  anybody, params: params, signsIn: true, foreign: true,
			leads:  "Redirect to /; if refused, to the console's sign-in, which shows why.",
			handle: func(c *call) error { return c.inConsole((*call).companyReturn) }},
	}
}

func (c *call) signInWays() error {
	out := client.SignInWays{Password: true}
	switch {
	case c.opts.Company == nil:
	case !c.ops:
		out.Companies = append(out.Companies, client.Company{Name: c.opts.Company.Name(), Path: companyPath})
		out.Refused = c.refusedBefore()
	default:
		if start := c.startOnUsers(); start != "" {
			out.Companies = append(out.Companies, client.Company{Name: c.opts.Company.Name(), Path: start})
		}
	}
	return c.json(out)
}

// startOnUsers returns the URL at which a sign-in starts on the users' listener, or "" if the session that starts there is not valid here
// because this request came to another host name.
func (c *call) startOnUsers() string {
	u, err := url.Parse(strings.TrimSuffix(c.opts.Company.Redirect(), CompanyReturn) + companyPath)
	here := url.URL{Host: c.r.Host}
	if err != nil || !strings.EqualFold(u.Hostname(), here.Hostname()) {
		return ""
	}
	return u.String()
}

// inConsole runs a route that people visit in a browser. If the route refuses, the console, if there is one, shows why; otherwise the
// answer is a problem as any other. The text travels in a sealed cookie, because anyone could put text into a URL.
func (c *call) inConsole(handle func(*call) error) error {
	err := handle(c)
	if err == nil || c.opts.Console == nil || !strings.Contains(c.r.Header.Get("Accept"), "text/html") {
		return err
	}
	p := c.problem(c.r, err)
	if p == nil {
		return err // nobody waits for the answer
	}
	text, err := json.Marshal(client.RefusedSignIn{Status: p.Status, Detail: p.Detail, Request: p.Request})
	if err != nil {
		return err
	}
	c.keepSealed(refusedCookie, string(text), refusedAge)
	c.lead(signInPage)
	return nil
}

// refusedBefore returns why this browser came back without a session. It returns it only once.
func (c *call) refusedBefore() *client.RefusedSignIn {
	var refused client.RefusedSignIn
	if !c.unsealed(refusedCookie, &refused) {
		return nil
	}
	c.dropSealed(refusedCookie)
	return &refused
}

// companySignIn sends the browser to the provider.
func (c *call) companySignIn() error {
	if err := c.companyRate(); err != nil {
		return err
	}
	to, started, err := c.opts.Company.Begin(c.ctx)
	if err != nil {
		return c.companyError(err)
	}
	text, err := json.Marshal(started)
	if err != nil {
		return err
	}
	c.keepSealed(startedCookie, string(text), 0)
	c.lead(to)
	return nil
}

// companyReturn starts the session of a person who comes back from the provider. Where it leads to does not depend on the request.
func (c *call) companyReturn() error {
	if err := c.companyRate(); err != nil {
		return err
	}
	started, err := c.started()
	if err != nil {
		return err
	}
	c.dropSealed(startedCookie) // valid only once
	person, err := c.opts.Company.Finish(c.ctx, started, oidc.Returned{Code: c.values.Get("code"), State: c.values.Get("state"),
		Error: c.values.Get("error"), Issuer: c.values.Get("iss")})
	if err != nil {
		return c.companyError(err)
	}
	a, err := c.opts.Accounts.Company(c.ctx, person.Issuer, person.Subject, person.Name, person.Owner, person.Role)
	rule, isRule := errors.AsType[*account.RuleError](err)
	switch {
	case errors.Is(err, account.ErrRefused):
		return c.companyRefused("its account is disabled")
	case errors.Is(err, account.ErrTaken):
		return c.companyRefused("an account of the same name signs in another way")
	case isRule:
		return c.companyRefused(rule.Arg + " " + rule.Msg)
	case err != nil:
		return c.away(err)
	}
	if err := c.begins(a, "sign-in", fmt.Sprintf("issuer=%q subject=%q", person.Issuer, person.Subject)); err != nil {
		return err
	}
	c.lead("/")
	return nil
}

// started returns the sign-in that this browser has started.
func (c *call) started() (s oidc.Started, err error) {
	if !c.unsealed(startedCookie, &s) {
		return s, c.companyRefused("the sign-in was not started in this browser")
	}
	return s, nil
}

// unsealed decodes a cookie set by keepSealed.
func (c *call) unsealed(name string, v any) bool {
	cookies := c.r.CookiesNamed(name)
	if len(cookies) != 1 {
		return false
	}
	text, ok := c.opts.Accounts.Unseal(name, cookies[0].Value)
	return ok && json.Unmarshal([]byte(text), v) == nil
}

// companyRate limits what a caller without credentials can ask of the provider and write into the audit.
func (c *call) companyRate() error {
	if !c.public.allow("sign-in " + c.network) {
		return refuse(tooMany, "too many sign-in attempts from this address")
	}
	return nil
}

func (c *call) companyError(err error) error {
	if refused, ok := errors.AsType[*oidc.RefusedError](err); ok {
		if who := refused.Left; who != nil {
			if err := c.opts.Accounts.Left(c.ctx, who.Issuer, who.Subject); err != nil {
				return c.away(err)
			}
		}
		return c.companyRefused(refused.Msg)
	}
	c.opts.Log.Warn("the company's provider did not answer", "request", requestID(c.r), "error", err)
	return refuse(noCompany, "the company's OpenID provider did not answer; brine's log says why")
}

// companyRefused refuses a sign-in, and audits it.
func (c *call) companyRefused(why string) error {
	if err := c.audit("sign-in.refused", "through the company's provider: "+why, ""); err != nil {
		return err
	}
	return refuse(unsigned, why+"; start over at "+companyPath)
}

// keepSealed stores text in the browser that only brine can read, for age seconds; 0: until the browser is closed.
func (c *call) keepSealed(name, text string, age int) {
	c.setCookie(name, c.opts.Accounts.Seal(name, text), age)
}

func (c *call) dropSealed(name string) { c.setCookie(name, "", -1) }

func (c *call) setCookie(name, value string, age int) {
	http.SetCookie(c.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// lead redirects the browser.
func (c *call) lead(to string) {
	c.w.Header().Set("Location", to)
	c.w.WriteHeader(http.StatusSeeOther)
}
