package service

import (
	"context"
	"net/http"
	"strings"
	"time"

	"brine/service/reload"
)

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
