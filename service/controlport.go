package service

import (
	"errors"
	"net/http"
	"strconv"

	"brine/internal/fault"
	"brine/service/admin"
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
