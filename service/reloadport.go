package service

import (
	"context"
	"net/http"
	"strings"
	"time"

	"brine/service/reload"
)

// ReloadPath is where the admin port takes the request for a reload, with ?preview=1 for what it would do. It answers with a reload.Result,
// also of one that was refused.
const ReloadPath = "/control/reload"

// reloadTime is for how long the admin port waits for a reload, and longer than one that waits for no other takes by default.
const reloadTime = checkTime + 4*graceTime

func (s *Service) handleReload() { s.admin.Handle("POST "+ReloadPath, http.HandlerFunc(s.takeReload)) }

// takeReload takes the request for a reload, which is seen to its end, whether who asked is still there or not.
func (s *Service) takeReload(w http.ResponseWriter, r *http.Request) {
	conn, end := http.NewResponseController(w), time.Now().Add(reloadTime+time.Second)
	_, _ = conn.SetReadDeadline(end), conn.SetWriteDeadline(end) // else those of the port hold, which are shorter
	result, err := s.ReloadForAnswer(r.Context(), Reloading{By: asker(r), Preview: r.FormValue("preview") != ""})
	if result != nil { // it says what was wrong
		err = nil
	}
	answer(w, result, err)
}

// ReloadForAnswer is Reload for a caller that waits for the answer: bounded, and finished even when nobody waits any more.
func (s *Service) ReloadForAnswer(ctx context.Context, asked Reloading) (*reload.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadTime)
	defer cancel()
	return s.Reload(ctx, asked)
}

// notes say what is worth a look, though it is no reason to be unhealthy.
func (s *Service) notes() []string {
	r := s.refused.Load()
	if r == nil {
		return nil
	}
	note := "the reload of " + r.At.UTC().Format(time.RFC3339) + " by " + r.By + " was refused, and the configuration before it goes on: " +
		strings.ReplaceAll(r.Error, "\n", "; ")
	return []string{note}
}
