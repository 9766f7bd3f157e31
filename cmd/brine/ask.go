package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// tokenFlag is the flag of commands that ask a running brine.
type tokenFlag struct {
	Token string `placeholder:"TOKEN" help:"http.token of a brine elsewhere (default: BRINE_HTTP_TOKEN, or http.token of the configuration)."`
}

// of is the token that the flag names, or the environment.
func (f tokenFlag) of(e *env) string {
	if f.Token != "" {
		return f.Token
	}
	token, _ := e.getenv("BRINE_HTTP_TOKEN")
	return token
}

// brineAt is a running brine, by its admin port.
type brineAt struct {
	addr, token string
	patience    time.Duration // for one answer; 0: shortPatience
}

// shortPatience is for one answer of a brine that is asked again and again.
const shortPatience = 10 * time.Second

// askedBrine is the brine whose admin port a flag or the configuration names.
func askedBrine(e *env, file configFlag, flag string, token tokenFlag) (brineAt, error) {
	b := brineAt{flag, token.of(e), e.patience}
	if b.addr == "" {
		cfg, err := file.load(e)
		if err != nil {
			return b, err
		}
		b.addr = cfg.HTTP.Listen
		if b.token == "" {
			b.token = cfg.HTTP.Token
		}
	}
	host, port, err := net.SplitHostPort(b.addr)
	if err != nil || port == "0" {
		return b, usage(fmt.Errorf("%q is no address of an admin port: give --http HOST:PORT as the running brine prints it", b.addr))
	}
	if host == "" {
		b.addr = net.JoinHostPort("127.0.0.1", port)
	}
	return b, nil
}

// mostAnswer is more than a brine has to say of all its tables.
const mostAnswer = 64 << 20

// ask reads what the brine answers at a path.
func (b brineAt) ask(ctx context.Context, path string, answer any) error {
	return b.call(ctx, http.MethodGet, path, answer)
}

// call reads what the brine answers to a request.
func (b brineAt) call(ctx context.Context, method, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(b.patience, shortPatience))
	defer cancel()
	target := "http://" + b.addr + path
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return usage(fmt.Errorf("--http: %w", err))
	}
	if b.token != "" {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return &exitError{exitUnreachable, err, "is brine running there? It prints the address of its admin port as it starts"}
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, mostAnswer)
	if resp.StatusCode != http.StatusOK {
		return refusedBy(target, resp.StatusCode, body)
	}
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}

// refusedBy says what an answer means that is none.
func refusedBy(target string, status int, body io.Reader) error {
	why, _ := io.ReadAll(io.LimitReader(body, 200))
	err := fmt.Errorf("%s answers %d: %s", target, status, strings.TrimSpace(string(why)))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &exitError{exitUsage, err, "give its http.token in BRINE_HTTP_TOKEN, or as --token"}
	case http.StatusMisdirectedRequest:
		return &exitError{exitUsage, err, "call it by its IP address, or give its http.token in BRINE_HTTP_TOKEN"}
	}
	return &exitError{exitFailed, err, "is it the admin port of a brine?"}
}
