package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"brine/account"
	"brine/command"
	"brine/mask"
	"brine/rowkey"
	"brine/serve/client"
)

const (
	afterHeader    = "Brine-After" // of a request: the token of a command whose effect the answer must show
	staleHeader    = "Brine-Stale" // of an answer that may not show it
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
)

// Why a command is refused. Two kinds with the same status have different fixes.
var (
	withoutAccounts = kind{"accounts", http.StatusForbidden, "Commands need accounts",
		"Without accounts, brine does not know who gives a command, and the API is read-only. Add the section accounts to the configuration."}
	needsMatch = kind{"version-required", http.StatusPreconditionRequired, "If-Match is missing",
		"A command must name the version of the row that the sender saw: the ETag, or state_version in double quotes."}
	outdated = kind{"stale", http.StatusPreconditionFailed, "The row has changed",
		"current is the row's current state. Read the row again, and decide again."}
	notAllowed = kind{"not-allowed", http.StatusConflict, "The row's state does not allow the command", "current is the row's current state."}
	held       = kind{"held", http.StatusConflict, "Another command on this version is being applied",
		"Read the row again in a moment: it changes when that command is applied."}
	keyRunning = kind{"running", http.StatusConflict, "The first request is still in progress",
		"A request with the same Idempotency-Key is in progress. Try again after Retry-After seconds."}
	keyReused = kind{"key-reused", http.StatusUnprocessableEntity, "The Idempotency-Key was used for another command",
		"Use a new key for each command or job."}
	purged = kind{"purged", http.StatusGone, "What was deleted may be gone", "It was deleted so long ago that parts of it may be gone."}

	commandKinds = []kind{withoutAccounts, needsMatch, outdated, notAllowed, held, keyRunning, keyReused, purged}
)

var commandKind = map[command.Kind]kind{
	command.NotFound: notThere, command.Forbidden: forbidden, command.NoKey: badRequest, command.KeyReused: keyReused,
	command.KeyRunning: keyRunning,
	command.NoVersion:  needsMatch, command.Stale: outdated, command.NotAllowed: notAllowed, command.Held: held, command.Gone: purged,
}

// commandRoutes returns the routes of a table's commands.
func commandRoutes(m *command.Machine) []*endpoint {
	path, name := tablePath(m.Table.Name), strings.ReplaceAll(m.Table.Name, ":", "_")
	routes := []*endpoint{{
		method: http.MethodGet, path: path + "/commands/{id}", id: "command_" + name,
		about:  "Get the state of a command on a row of " + m.Table.Name + ".",
		params: []param{{in: "path", name: "id", about: "ID of the command.", kind: rowkey.Text, required: true}},
		answer: client.Command{}, missing: true, role: account.Customer,
		handle: func(c *call) error { return c.commandState(m) },
	}}
	for i := range m.Commands {
		of := &m.Commands[i]
		about := "Change a row of " + m.Table.Name + " from " + strings.Join(of.From, " or ") + " to " + of.To +
			"; allowed for " + strings.Join(of.Roles, ", ")
		if len(of.Take) > 0 {
			about += "; takes " + strings.Join(of.Take, ", ")
		}
		routes = append(routes, &endpoint{
			method: http.MethodPost, path: path + "/rows/{key}/commands/" + of.Name, id: of.Name + "_" + name, about: about + ".",
			params: []param{
				{in: "path", name: "key", about: "Row key as in answers, escaped for a URL path.", kind: rowkey.Text, required: true},
				{in: "header", name: "If-Match", about: "The row's ETag, or its state_version in double quotes.", kind: rowkey.Text, required: true},
				{in: "header", name: keyHeader, about: "New for each command; the same key repeats a request.", kind: rowkey.Text, required: true},
			},
			body: client.Fields{}, answer: client.Command{}, bare: true, missing: true,
			accepts: "The command is stored, and will be published.", refuses: commandKinds, on: tableSubject(&m.Table, false),
			handle: func(c *call) error { return c.command(m, of) },
		})
	}
	return routes
}

// giver is the account that sends a command.
type giver struct{ account, role string }

// command accepts a command.
func (c *call) command(m *command.Machine, of *command.Command) error {
	by, err := c.giver(m)
	if err != nil {
		return err
	}
	row, err := parseRow("path.key", c.r.PathValue("key"))
	if err != nil {
		return err
	}
	var fields struct {
		Fields map[string]json.RawMessage `json:"fields"`
	}
	if c.r.ContentLength != 0 {
		if err := c.body(&fields); err != nil {
			return err
		}
	}
	object := m.Table.Name + " " + of.Name + " key=" + mask.If(c.opts.Masks.MasksKey(m.Table.Name), c.r.PathValue("key"))
	c.owes = false // the command's audit entry also covers the read
	if err := c.audit("command", object, c.reason); err != nil {
		return err
	}
	e, replayed, err := c.opts.Commands.Do(c.ctx, &command.Ask{
		Account: by.account, Role: by.role, May: c.owns, Table: m.Table.Name, Row: row, Command: of.Name,
		Key: c.r.Header.Get(keyHeader), IfMatch: strings.Join(c.r.Header.Values("If-Match"), ","), Fields: fields.Fields,
	})
	if err != nil {
		return c.refused(m, err)
	}
	if replayed {
		c.w.Header().Set(replayedHeader, "true")
	}
	c.w.Header().Set("Location", tablePath(m.Table.Name)+"/commands/"+e.ID)
	c.w.Header().Set("Content-Type", jsonType)
	c.w.WriteHeader(http.StatusAccepted)
	return c.json(shownCommand(&e))
}

func (c *call) commandState(m *command.Machine) error {
	by, err := c.giver(m)
	if err != nil {
		return err
	}
	e, err := c.opts.Commands.Get(c.ctx, by.account, m.Table.Name, c.r.PathValue("id"))
	if err != nil {
		return c.refused(m, err)
	}
	return c.json(shownCommand(&e))
}

func shownCommand(e *command.Entry) client.Command {
	return client.Command{ID: e.ID, Command: e.Command, Row: rowkey.Binary(e.Row), To: e.Change.State, Version: e.Change.At,
		State: string(e.State), Detail: e.Detail, Token: e.Token()}
}

// refused converts the error of a command that is not accepted.
func (c *call) refused(m *command.Machine, err error) error {
	r, ok := errors.AsType[*command.Refusal](err)
	switch {
	case !ok:
		return err
	case r.Kind == command.Invalid:
		return wrong(r.Arg, r.Detail, "see "+openAPIPath)
	case r.Kind == command.NoKey:
		return wrong("header."+keyHeader, r.Detail, "")
	case r.Kind == command.KeyRunning || r.Kind == command.Held:
		c.w.Header().Set("Retry-After", "1")
	}
	out := &refusal{kind: commandKind[r.Kind], detail: r.Detail}
	if r.Order != nil && masked(c.masks(c.id), &m.Table, m.State) {
		out.detail = "the row's state does not allow the command"
		return out
	}
	if o := r.Order; o != nil {
		out.current = &client.Current{State: o.State, StateVersion: o.Version, Deleted: o.Deleted}
	}
	return out
}

// await waits, for half of the request's time at most, until the command that the request wants to see is applied. A header of the answer
// says if that was too short.
func (c *call) await() error {
	token := c.r.Header.Get(afterHeader)
	if token == "" || !c.endpoint.waits {
		return nil
	}
	stale := true
	if c.opts.Commands != nil {
		within, cancel := context.WithTimeout(c.ctx, c.opts.Timeout/2)
		defer cancel()
		var err error
		if stale, err = c.opts.Commands.Wait(within, token); err != nil && within.Err() == nil {
			return c.refused(nil, err)
		}
		stale = stale || err != nil
	}
	if stale {
		c.w.Header().Set(staleHeader, "true")
	}
	return c.ctx.Err()
}

// giver returns who sends a command, or why the caller may not. Whether the caller may see the row is decided as for any route that reads
// it.
func (c *call) giver(m *command.Machine) (giver, error) {
	switch {
	case c.opts.Accounts == nil || c.opts.Commands == nil:
		return giver{}, refuse(withoutAccounts,
			"commands need accounts: add the section accounts; without it the API is read-only")
	case c.id == nil:
		return giver{}, refuse(unsigned, "sign in, or send an API token")
	case c.scope.byKey:
		return giver{}, refuse(forbidden, "the role "+string(c.id.Role)+" may not change rows of "+m.Table.Name)
	}
	return giver{account: strconv.FormatInt(c.id.Account.ID, 10), role: string(c.id.Role)}, nil
}
