package hbase

import (
	"cmp"
	"errors"
	"fmt"

	"brine/hbase/internal/rpc"
	"brine/internal/gssapi"
)

// Kerberos is who the client is, by Kerberos. Tickets are renewed at 5/6 of their life; files are read again whenever they are needed. It
// takes AES keys.
type Kerberos struct {
	Principal   string // name[/instance][@REALM]; of a ticket cache its owner's, unless it is said
	Keytab      string // file with the principal's keys, or else:
	TicketCache string // file with its ticket, as kinit writes it
	Krb5Conf    string // default: what KRB5_CONFIG names, else /etc/krb5.conf

	// ServerPrincipal is that of masters and region servers [hbase.master.kerberos.principal, hbase.regionserver.kerberos.principal]. _HOST
	// stands for each one's host; the realm is that of the host by krb5.conf, else the client's. Default hbase/_HOST.
	ServerPrincipal string

	// QOP is the quality of protection [hbase.rpc.protection]: auth (the default; authentication), auth-int (integrity) or auth-conf
	// (privacy). It is what the servers must offer: neither less nor more is taken.
	QOP string
}

// Causes why Kerberos fails, which errors of Open and of calls Is where it is known.
var (
	ErrClockSkew        = gssapi.ErrClockSkew        // between this machine and the KDC or the server
	ErrUnknownPrincipal = gssapi.ErrUnknownPrincipal // the KDC does not know Principal
	ErrUnknownServer    = gssapi.ErrUnknownServer    // nor the server's
	ErrWrongKey         = gssapi.ErrWrongKey         // the keytab, ours or the server's, has not the KDC's key
	ErrTicketExpired    = gssapi.ErrExpired          // the ticket, or the principal itself
	ErrWrongRealm       = gssapi.ErrWrongRealm       // no KDC serves it
	ErrNoKDC            = gssapi.ErrKDC              // none answers
	ErrDowngrade        = gssapi.ErrDowngrade        // QOP is not what the server offers
)

const defaultServerPrincipal = "hbase/_HOST"

// validate finds what is wrong without looking at files.
func (k *Kerberos) validate() error {
	var errs []error
	if (k.Keytab == "") == (k.TicketCache == "") {
		errs = append(errs, errors.New("hbase: Options.Kerberos needs a Keytab or a TicketCache, and not both"))
	}
	if k.Keytab != "" && k.Principal == "" {
		errs = append(errs, errors.New("hbase: Options.Kerberos.Principal is empty, and a keytab may have several"))
	}
	if k.QOP != "" {
		if _, err := gssapi.ParseQOP(k.QOP); err != nil {
			errs = append(errs, fmt.Errorf("hbase: Options.Kerberos.QOP: %w", err))
		}
	}
	return errors.Join(errs...)
}

// login opens what Options.Kerberos says. The caller closes the Login.
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
