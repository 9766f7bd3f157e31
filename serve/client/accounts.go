package client

// SignIn is a request to sign in with a password.
type SignIn struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// SignInWays are the ways to sign in.
type SignInWays struct {
	Password  bool      `json:"password" doc:"By name and password."`
	Companies []Company `json:"companies,omitempty" doc:"By the OpenID provider of a company, in a browser."`

	Refused *RefusedSignIn `json:"refused,omitempty" doc:"Why the last sign-in by a company has failed in this browser; it is said once."`
}

// RefusedSignIn is why a browser came back from a company's provider without a session.
type RefusedSignIn struct {
	Status  int    `json:"status" doc:"Of the problem that a program would be answered with."`
	Detail  string `json:"detail"`
	Request string `json:"request_id" doc:"Of the request that was refused, for brine's log."`
}

// Company is an OpenID provider.
type Company struct {
	Name string `json:"name" doc:"For people: Sign in with NAME."`
	Path string `json:"path" doc:"Where a browser goes to sign in."`
}

// Me is the caller.
type Me struct {
	Name  string `json:"name"`
	Role  string `json:"role" doc:"customer, support, operator or admin; of an API token no more than its own."`
	Owner string `json:"owner,omitempty" doc:"Whose rows a customer reads."`
}

// Done is an answer without content.
type Done struct {
	Done bool `json:"done"`
}

// NewPassword is a request to change one's own password.
type NewPassword struct {
	Old      string `json:"old"`
	Password string `json:"password" doc:"At least 15 characters, and none of those that are tried first."`
}

// Tokens are the API tokens of an account.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// Token describes an API token, without its secret.
type Token struct {
	ID      int64  `json:"id"`
	Name    string `json:"name" doc:"What it is for."`
	Role    string `json:"role"`
	Created string `json:"created"`
	Expires string `json:"expires"`
	Used    string `json:"used" doc:"To the minute; empty: never."`
}

// NewToken is a request for an API token.
type NewToken struct {
	Name    string `json:"name" doc:"What it is for."`
	Role    string `json:"role" doc:"The account's, or a lesser one."`
	Expires string `json:"expires" doc:"RFC 3339, within a year."`
}

// MadeToken is a new API token. Token is shown only this once.
type MadeToken struct {
	Token string `json:"token" doc:"For the header Authorization: Bearer TOKEN. It is stored nowhere."`
	About Token  `json:"about"`
}

// Account is an account as administrators see it.
type Account struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Owner   string `json:"owner,omitempty"`
	Enabled bool   `json:"enabled"`
	Created string `json:"created"`
	Changed string `json:"changed"`
}

// Accounts is a page of accounts, sorted by name.
type Accounts struct {
	Accounts []Account `json:"accounts"`
	Next     string    `json:"next_page_token" doc:"What page_token takes to go on; empty at the end."`
}

// NewAccount is a request to create an account.
type NewAccount struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Owner    string `json:"owner,omitempty" doc:"Of a customer: what the owner field of its rows holds."`
	Password string `json:"password"`
}

// ChangedAccount is a request to change an account. Absent fields stay unchanged.
type ChangedAccount struct {
	Role    *string `json:"role,omitempty"`
	Owner   *string `json:"owner,omitempty"`
	Enabled *bool   `json:"enabled,omitempty"`
}

// AccountPassword is a request to set an account's password.
type AccountPassword struct {
	Password string `json:"password"`
}

// Audit is a page of the audit, newest entry first.
type Audit struct {
	Entries []AuditEntry `json:"entries"`
	Next    string       `json:"next_page_token" doc:"What page_token takes to go on; empty at the end."`
}

// AuditEntry says who did what to what, and why.
type AuditEntry struct {
	ID      int64  `json:"id"`
	At      string `json:"at"`
	Account string `json:"account"`
	Role    string `json:"role"`
	Action  string `json:"action"`
	Object  string `json:"object"`
	Reason  string `json:"reason"`
	Address string `json:"address"`
	Request string `json:"request_id"`
}
