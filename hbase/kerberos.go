package hbase

import (
	"cmp"
	"errors"
	"fmt"

	"brine/hbase/internal/rpc"
	"brine/internal/gssapi"
)

// Kerberos is the client's Kerberos identity. Tickets are renewed at 5/6 of their lifetime. Files are read again whenever they are needed.
// Only AES keys are supported.
type Kerberos struct {
	Principal   string // name[/instance][@REALM]; with a ticket cache, the default is the cache's owner
	Keytab      string // file with the principal's keys; set this or
	TicketCache string // file with the principal's ticket, as written by kinit
	Krb5Conf    string // default: the file that KRB5_CONFIG names, else /etc/krb5.conf

	// ServerPrincipal is the principal of masters and region servers [hbase.master.kerberos.principal, hbase.regionserver.kerberos.principal].
	// _HOST stands for the host of each. The realm is the host's realm in krb5.conf, or else the client's. Default hbase/_HOST.
	ServerPrincipal string

	// QOP is the quality of protection [hbase.rpc.protection]: auth (the default; authentication), auth-int (integrity) or auth-conf
	// (privacy). Servers must offer exactly this one.
	QOP string
}

// Causes of Kerberos failures. Errors of Open and of calls wrap one of them if the cause is known.
var (
	ErrClockSkew        = gssapi.ErrClockSkew        // between this machine and the KDC or the server
	ErrUnknownPrincipal = gssapi.ErrUnknownPrincipal // the KDC does not know Principal
	ErrUnknownServer    = gssapi.ErrUnknownServer    // the KDC does not know the server's principal
	ErrWrongKey         = gssapi.ErrWrongKey         // the client's or the server's keytab does not have the KDC's key
	ErrTicketExpired    = gssapi.ErrExpired          // the ticket or the principal itself has expired
	ErrWrongRealm       = gssapi.ErrWrongRealm       // no KDC serves the realm
	ErrNoKDC            = gssapi.ErrKDC              // no KDC answers
	ErrDowngrade        = gssapi.ErrDowngrade        // the server does not offer QOP
)

const defaultServerPrincipal = "hbase/_HOST"

// validate checks everything that can be checked without reading files.
func (k *Kerberos) validate() error {
	var errs []error
	if (k.Keytab == "") == (k.TicketCache == "") {
		errs = append(errs, errors.New("hbase: Options.Kerberos needs either a Keytab or a TicketCache"))
	}
	if k.Keytab != "" && k.Principal == "" {
		errs = append(errs, errors.New("hbase: Options.Kerberos.Principal is empty, but a keytab may have several"))
	}
	if k.QOP != "" {
		if _, err := gssapi.ParseQOP(k.QOP); err != nil {
			errs = append(errs, fmt.Errorf("hbase: Options.Kerberos.QOP: %w", err))
		}
	}
	return errors.Join(errs...)
}

// login opens the Login that Options.Kerberos describes. The caller closes it.
func (o *Options) login() (*rpc.Kerberos, error) {
	k := o.Kerberos
	if k == nil {
		return nil, nil
	}
	qop, err := gssapi.ParseQOP(cmp.Or(k.QOP, gssapi.Auth.String()))
	if err != nil {
		return nil, err
	}
	login, err := gssapi.NewLogin(gssapi.Options{
		Principal: k.Principal, Keytab: k.Keytab, TicketCache: k.TicketCache, Krb5Conf: k.Krb5Conf,
		Warn: func(err error) { o.Hooks.Renewal(RenewalInfo{err}) },
	})
	if err != nil {
		return nil, fmt.Errorf("hbase: %w", err)
	}
	return &rpc.Kerberos{Login: login, Server: cmp.Or(k.ServerPrincipal, defaultServerPrincipal), QOP: qop}, nil
}
