package gssapi

import (
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// Causes of failures. Errors of Login and of the exchange wrap one of them if the cause is known.
var (
	ErrClockSkew        = errors.New("the clocks are too far apart")
	ErrUnknownPrincipal = errors.New("the KDC does not know the principal")
	ErrUnknownServer    = errors.New("the KDC does not know the server's principal")
	ErrWrongKey         = errors.New("the key is not the principal's")
	ErrExpired          = errors.New("it has expired")
	ErrWrongRealm       = errors.New("wrong realm")
	ErrKDC              = errors.New("no KDC answers")
	ErrDowngrade        = errors.New("the server offers less protection than required")
)

// kdcError explains the error that a KDC returned for a request about a principal.
func kdcError(e messages.KRBError, kdc, client, server string, now time.Time) error {
	text := errorcode.Lookup(e.ErrorCode)
	if e.EText != "" {
		text += ": " + clip(e.EText)
	}
	said := func(cause error, fix string) error {
		return fmt.Errorf("KDC %s: %w: %s (%s)", kdc, cause, fix, text)
	}
	switch e.ErrorCode {
	case errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN:
		return said(ErrUnknownPrincipal, fmt.Sprintf("check that %s is spelled as in the KDC, with its realm", client))
	case errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN, errorcode.KDC_ERR_SERVER_NOMATCH:
		return said(ErrUnknownServer, fmt.Sprintf("%s; check that it is the server's principal (its host name and realm)", server))
	case errorcode.KRB_AP_ERR_SKEW, errorcode.KDC_ERR_NEVER_VALID:
		return said(ErrClockSkew, skewOf(e.STime, now))
	case errorcode.KDC_ERR_PREAUTH_FAILED, errorcode.KRB_AP_ERR_BAD_INTEGRITY, errorcode.KRB_AP_ERR_MODIFIED:
		return said(ErrWrongKey,
			fmt.Sprintf("the keytab's key of %s is not the KDC's, perhaps because it was changed: export the keytab again", client))
	case errorcode.KDC_ERR_NAME_EXP, errorcode.KDC_ERR_KEY_EXPIRED, errorcode.KDC_ERR_CLIENT_REVOKED:
		return said(ErrExpired, fmt.Sprintf("the principal %s, or its key, is no longer valid", client))
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		return said(ErrExpired, "the ticket of "+client)
	case errorcode.KDC_ERR_WRONG_REALM:
		return said(ErrWrongRealm, fmt.Sprintf("it does not serve the realm of %s", client))
	case errorcode.KDC_ERR_ETYPE_NOSUPP:
		return fmt.Errorf("KDC %s: it has no AES key of %s or %s (%s)", kdc, client, server, text)
	}
	return fmt.Errorf("KDC %s answered %s when asked about %s for %s", kdc, text, client, server)
}

// ended reports whether a KDC refused a request because the ticket sent with it had expired.
func ended(err error) bool {
	e, ok := errors.AsType[messages.KRBError](err)
	return ok && e.ErrorCode == errorcode.KRB_AP_ERR_TKT_EXPIRED
}

// skewOf describes how far this machine's clock is from the other's.
func skewOf(theirs, ours time.Time) string {
	d := ours.Sub(theirs).Round(10 * time.Second) // theirs has no fractions of a second
	if d < 0 {
		return fmt.Sprintf("this machine's is %v behind; synchronize it (NTP)", -d)
	}
	return fmt.Sprintf("this machine's is %v ahead; synchronize it (NTP)", d)
}

// serverError explains the KRB-ERROR token of a server that refused a context.
func serverError(server string, message []byte) error {
	var e messages.KRBError
	if err := guarded("KRB-ERROR", func() error { return e.Unmarshal(message) }); err != nil {
		return err
	}
	text := errorcode.Lookup(e.ErrorCode)
	switch e.ErrorCode {
	case errorcode.KRB_AP_ERR_SKEW:
		return fmt.Errorf("%s refuses the ticket: %w: %s (%s)", server, ErrClockSkew, skewOf(e.STime, time.Now()), text)
	case errorcode.KRB_AP_ERR_TKT_EXPIRED, errorcode.KRB_AP_ERR_TKT_NYV:
		return fmt.Errorf("%s refuses the ticket: %w (%s)", server, ErrExpired, text)
	case errorcode.KRB_AP_ERR_MODIFIED, errorcode.KRB_AP_ERR_BAD_INTEGRITY, errorcode.KRB_AP_ERR_NOKEY, errorcode.KRB_AP_ERR_NOT_US,
		errorcode.KRB_AP_ERR_BADKEYVER:
		return fmt.Errorf("%s refuses the ticket: %w: the server's keytab does not match the KDC, or it is a different server (%s)", server,
			ErrWrongKey, text)
	}
	return fmt.Errorf("%s refuses the ticket: %s", server, text)
}

// clip truncates a text from elsewhere.
func clip(s string) string {
	const most = 500
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
