package client

// SignIn is a request to sign in with a password.
type SignIn struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// SignInWays are the ways to sign in.
type SignInWays struct {
	Password  bool      `json:"password" doc:"Whether accounts can sign in with name and password."`
	Companies []Company `json:"companies,omitempty" doc:"OpenID providers through which a browser can sign in."`

	Refused *RefusedSignIn `json:"refused,omitempty" doc:"Why the last sign-in through a provider failed in this browser. Returned once."`
}

// RefusedSignIn is why a browser came back from a company's provider without a session.
type RefusedSignIn struct {
	Status  int    `json:"status" doc:"HTTP status that a program would have received."`
	Detail  string `json:"detail"`
	Request string `json:"request_id" doc:"ID of the refused request, as in brine's log."`
}

// Company is an OpenID provider.
type Company struct {
	Name string `json:"name" doc:"Display name, as in: Sign in with NAME."`
	Path string `json:"path" doc:"Path that a browser opens to sign in. On the operators' port: the URL on the users' port; a session that starts there is valid on both."`
}

// Me is the caller.
type Me struct {
	Name  string `json:"name"`
	Role  string `json:"role" doc:"customer, support, operator or admin; for an API token, at most the token's role."`
	Owner string `json:"owner,omitempty" doc:"For a customer: value of the owner field in the rows that the caller may read."`
}

// Done is an answer without content.
type Done struct {
	Done bool `json:"done"`
}

// NewPassword is a request to change one's own password.
type NewPassword struct {
	Old      string `json:"old" doc:"Current password."`
	Password string `json:"password" doc:"New password: at least 15 characters, and not a common password."`
}

// Tokens are the API tokens of an account.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// Token describes an API token, without its secret.
type Token struct {
	ID      int64  `json:"id"`
	Name    string `json:"name" doc:"Purpose of the token."`
	Role    string `json:"role"`
	Created string `json:"created"`
	Expires string `json:"expires"`
	Used    string `json:"used" doc:"When the token was last used, to the minute. Empty if never."`
}

// NewToken is a request for an API token.
type NewToken struct {
	Name    string `json:"name" doc:"Purpose of the token."`
	Role    string `json:"role" doc:"Role of the token, at most the account's."`
	Expires string `json:"expires" doc:"Expiry time (RFC 3339), at most a year from now."`
}

// MadeToken is a new API token. Token is shown only this once.
type MadeToken struct {
	Token string `json:"token" doc:"Pass as Authorization: Bearer TOKEN. It is not stored and cannot be shown again."`
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
	Next     string    `json:"next_page_token" doc:"Pass as page_token to get the next page. Empty if this is the last page."`
}

// NewAccount is a request to create an account.
type NewAccount struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Owner    string `json:"owner,omitempty" doc:"For the role customer: value of the owner field in the account's rows."`
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
	Next    string       `json:"next_page_token" doc:"Pass as page_token to get the next page. Empty if this is the last page."`
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
