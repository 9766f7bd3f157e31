package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"brine/service/admin"
)

// tokenFlag is the flag of commands that call a running brine.
type tokenFlag struct {
	Token string `placeholder:"TOKEN" help:"http.token of the running brine (default: BRINE_HTTP_TOKEN, else http.token of the configuration)."`
}

// of returns the token given by the flag, or by the environment.
func (f tokenFlag) of(e *env) string {
	if f.Token != "" {
		return f.Token
	}
	token, _ := e.getenv("BRINE_HTTP_TOKEN")
	return token
}

// adminClient returns a client of the admin port named by the flag or by the configuration.
func adminClient(e *env, file configFlag, flag string, token tokenFlag) (admin.Client, error) {
	c := admin.Client{Addr: flag, Token: token.of(e), Timeout: e.patience}
	if c.Addr == "" {
		cfg, err := file.load(e)
		if err != nil {
			return c, err
		}
		c.Addr = cfg.HTTP.Listen
		if how := cfg.HTTP.TLS.Port(); how.Encrypted() {
			if c.TLS, err = how.Client(); err != nil {
				return c, usage(fmt.Errorf("http.tls: %w", err))
			}
		}
		if c.Token == "" {
			c.Token = cfg.HTTP.Token
		}
	}
	if strings.HasPrefix(c.Addr, "unix:") {
		return c, nil
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(c.Addr, "https://"))
	if err != nil || port == "0" {
		return c, usage(fmt.Errorf("%q is not an admin port address: give --http HOST:PORT as printed by the running brine", c.Addr))
	}
	if host == "" {
		c.Addr = net.JoinHostPort("127.0.0.1", port)
	}
	return c, nil
}

// adminError attaches the exit code and a hint to an error of the admin port.
func adminError(err error) error {
	if _, ok := errors.AsType[*admin.UnreachableError](err); ok {
		return &exitError{exitUnreachable, err, "is brine running there? It prints its admin port's address when it starts"}
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return usage(fmt.Errorf("--http: %w", err))
	}
	status, ok := errors.AsType[*admin.StatusError](err)
	if !ok {
		return err
	}
	switch status.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &exitError{exitUsage, err, "give its http.token in BRINE_HTTP_TOKEN, or as --token"}
	case http.StatusMisdirectedRequest:
		return &exitError{exitUsage, err, "call it by its IP address, or give its http.token in BRINE_HTTP_TOKEN"}
	}
	return &exitError{exitFailed, err, "is it the admin port of a brine?"}
}
