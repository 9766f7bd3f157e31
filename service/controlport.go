package service

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"brine/internal/fault"
	"brine/service/admin"
	"brine/service/reload"
)

// ControlPath is the path on the admin port that takes orders, followed by the pipeline's name, a slash, and Pause, Resume or Limit.
const ControlPath = "/control/pipelines/"

// handleControl serves ControlPath.
func (s *Service) handleControl() {
	s.admin.Handle("POST "+ControlPath+"{pipeline}/{what}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, err := 0., error(nil)
		if r.PathValue("what") == Limit {
			limit, err = strconv.ParseFloat(r.FormValue("limit"), 64)
		}
		if err != nil {
			http.Error(w, "limit: write records a second, or 0 for none", http.StatusBadRequest)
			return
		}
		asked, err := s.Control().Ask(r.Context(), Ask{
			What: r.PathValue("what"), Pipeline: r.PathValue("pipeline"), Half: r.FormValue("half"), Limit: limit, By: asker(r),
		})
		answer(w, asked, err)
	}))
}

// ReloadPath is the path on the admin port that reloads, or with ?preview=1 reports what a reload would do. It answers with a
// reload.Result, even if the reload was refused.
const ReloadPath = "/control/reload"

// reloadTime is how long the admin port waits for a reload. It is longer than a reload takes by default, unless it waits for another.
const reloadTime = checkTime + 4*graceTime

func (s *Service) handleReload() { s.admin.Handle("POST "+ReloadPath, http.HandlerFunc(s.takeReload)) }

// takeReload serves ReloadPath. The reload is completed even if the client disconnects.
func (s *Service) takeReload(w http.ResponseWriter, r *http.Request) {
	conn, end := http.NewResponseController(w), time.Now().Add(reloadTime+time.Second)
	_, _ = conn.SetReadDeadline(end), conn.SetWriteDeadline(end) // replace the port's shorter deadlines
	result, err := s.ReloadForAnswer(r.Context(), Reloading{By: asker(r), Preview: r.FormValue("preview") != ""})
	if result != nil { // the result reports what was wrong
		err = nil
	}
	answer(w, result, err)
}

// ReloadForAnswer is Reload for a request: it has a time limit, and completes even if the caller goes away.
func (s *Service) ReloadForAnswer(ctx context.Context, asked Reloading) (*reload.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadTime)
	defer cancel()
	return s.Reload(ctx, asked)
}

// notes returns what deserves attention but does not make the service unhealthy.
func (s *Service) notes() []string {
	r := s.refused.Load()
	if r == nil {
		return nil
	}
	note := "the reload of " + r.At.UTC().Format(time.RFC3339) + " by " + r.By + " was refused, so the previous configuration stays in use: " +
		strings.ReplaceAll(r.Error, "\n", "; ")
	return []string{note}
}

// asker returns who sent a request: the name that the client gives, and the remote address.
func asker(r *http.Request) string {
	by := r.FormValue("by")
	if len(by) > 100 {
		by = by[:100]
	}
	if r.RemoteAddr == "" || r.RemoteAddr == "@" { // a Unix socket
		return by
	}
	return by + " from " + r.RemoteAddr
}

// answer writes v, or err with its HTTP status.
func answer(w http.ResponseWriter, v any, err error) {
	if err == nil {
		admin.WriteJSON(w, http.StatusOK, v)
		return
	}
	status, text := http.StatusInternalServerError, err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Fix != "" {
			text += "; " + f.Fix
		}
		switch f.Kind {
		case fault.Usage:
			status = http.StatusBadRequest
		case fault.Missing:
			status = http.StatusNotFound
		case fault.Unreachable:
			status = http.StatusServiceUnavailable
		}
	}
	http.Error(w, text, status)
}
