package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"brine/account"
	"brine/account/oidc"
	"brine/rowkey"
	"brine/serve/client"
)

// The routes of sign-ins by a company's provider: browsers begin at the one, and come back to the other.
const (
	companyPath = sessionPath + "/oidc"
	// CompanyReturn is where the provider sends browsers back to, behind the URL of the users' listener.
	CompanyReturn = companyPath + "/return"
)

// startedCookie holds a sign-in that was begun, sealed, in the browser that has begun it.
const startedCookie = "__Host-brine-oidc"

// companyRoutes are on the users' listener alone: the provider knows one address. The session that begins there is good for the operators'
// of the same host.
func (s *Server) companyRoutes() []*endpoint {
	if s.opts.Company == nil || s.ops {
		return nil
	}
	var params []param
	for _, p := range [][2]string{{"code", "Of the provider."}, {"state", "Of the sign-in."}, {"error", "Why the provider refuses."},
		{"iss", "The provider, if it says so (RFC 9207)."}} {
		params = append(params, param{in: "query", name: p[0], about: p[1], kind: rowkey.Text})
	}
	return []*endpoint{
		{method: http.MethodGet, path: companyPath, id: "company_sign_in", about: "Begins a sign-in by the company's OpenID provider.",
			role: anybody, signsIn: true, leads: "To the provider.", handle: (*call).companySignIn},
		{method: http.MethodGet, path: CompanyReturn, id: "company_return",
			about: "Ends such a sign-in: begins a session, and leads to the console.",
			role:  anybody, params: params, signsIn: true, foreign: true, leads: "To /.", handle: (*call).companyReturn},
	}
}

func (c *call) signInWays() error {
	out := client.SignInWays{Password: true}
	if c.opts.Company != nil && !c.ops {
		out.Companies = append(out.Companies, client.Company{Name: c.opts.Company.Name(), Path: companyPath})
	}
	return c.json(out)
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
	c.keepStarted(c.opts.Accounts.Seal(startedCookie, string(text)), 0)
	c.lead(to)
	return nil
}

// companyReturn begins the session of who comes back. Where it leads does not depend on the request.
func (c *call) companyReturn() error {
	if err := c.companyRate(); err != nil {
		return err
	}
	started, err := c.started()
	if err != nil {
		return err
	}
	c.keepStarted("", -1) // it counts once
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
		return c.companyRefused("an account of the same name signs in otherwise")
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

// started is the sign-in that this browser has begun.
func (c *call) started() (s oidc.Started, err error) {
	cookies := c.r.CookiesNamed(startedCookie)
	if len(cookies) != 1 {
		return s, c.companyRefused("the sign-in was not begun in this browser")
	}
	text, ok := c.opts.Accounts.Unseal(startedCookie, cookies[0].Value)
	if !ok || json.Unmarshal([]byte(text), &s) != nil {
		return s, c.companyRefused("the sign-in was not begun in this browser")
	}
	return s, nil
}

// companyRate bounds what somebody who shows nothing may ask of the provider, and write into the audit.
func (c *call) companyRate() error {
	if !c.public.allow("sign-in " + c.network) {
		return refuse(tooMany, "more sign-ins were tried from here than anybody may try")
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
	return refuse(noCompany, "the company's OpenID provider gave no answer; the log of brine says why")
}

// companyRefused refuses a sign-in, and has it in the audit.
func (c *call) companyRefused(why string) error {
	if err := c.audit("sign-in.refused", "by the company's provider: "+why, ""); err != nil {
		return err
	}
	return refuse(unsigned, why+"; begin again at "+companyPath)
}

// keepStarted sets the cookie of a sign-in that was begun; a negative age takes it back.
func (c *call) keepStarted(value string, age int) {
	http.SetCookie(c.w, &http.Cookie{Name: startedCookie, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// lead sends the browser on.
func (c *call) lead(to string) {
	c.w.Header().Set("Location", to)
	c.w.WriteHeader(http.StatusSeeOther)
}
