package service

import (
	"context"
	"net/http"
	"os"
	"slices"
	"time"

	"brine/ingest/control"
	"brine/ingest/offsets"
	"brine/internal/backoff"
	"brine/internal/wording"
	"brine/service/admin"
	"brine/service/brokers"
)

// Shown is what the admin port shows of a half: its Status and, for PipelinesPath?members, the members of its group.
type Shown struct {
	Status
	Members []Member `json:"members,omitempty"`
	Unknown string   `json:"members_unknown,omitempty"` // why the brokers did not list the members
}

// Member is a member of a group, with the version of brine that it has reported.
type Member struct {
	offsets.Member
	Version string `json:"version,omitempty"`
}

// membersPatience is the timeout of the broker requests for all groups together.
const membersPatience = 3 * time.Second

func (s *Service) showPipelines(w http.ResponseWriter, r *http.Request) {
	halves := s.all()
	shown := make([]Shown, len(halves))
	for i, h := range halves {
		shown[i].Status = s.StatusOf(h)
	}
	if r.URL.Query().Has("members") {
		s.addMembers(r.Context(), halves, shown)
	}
	admin.WriteJSON(w, http.StatusOK, shown)
}

// addMembers fetches the members of the halves' groups from the brokers.
func (s *Service) addMembers(ctx context.Context, halves []*Half, shown []Shown) {
	ctx, cancel := context.WithTimeout(ctx, membersPatience)
	defer cancel()
	client := brokers.Open(&s.Config().Kafka)
	defer client.Close()
	reported := s.Control().Members()
	for i, h := range halves {
		members, err := client.Members(ctx, h.group)
		if err != nil {
			shown[i].Unknown = wording.Plain(err.Error())
		}
		for _, m := range members {
			shown[i].Members = append(shown[i].Members, Member{m, reported[m.ID].Version})
		}
	}
}

// How members report their versions.
const (
	reportEvery  = time.Second      // how often to look for members that have joined
	reportPauses = 10 * time.Minute // most time between attempts that fail
	removeTime   = 3 * time.Second  // for removing reports at a stop
	killedHolds  = 24 * time.Hour   // after its start, the report of a process may be removed once its group does not list it
)

// reportMembers reports the version of this process to the control topic, for each group that it is a member of, until ctx is done. It
// shares nothing with the loops or with what reads the control topic, so that a broker that refuses or hangs only leaves a report out.
func (s *Service) reportMembers(ctx context.Context) {
	process := control.Member{Version: s.opts.Version, PID: os.Getpid(), Started: time.Now().UTC().Truncate(time.Millisecond)}
	process.Host, _ = os.Hostname()
	var reported []control.Member
	failed := false
	retry := backoff.Pauses{Base: reportEvery, Limit: reportPauses}
	for backoff.Wait(ctx, reportEvery) == nil {
		now := s.members(process)
		if s.asked.Load() == nil || slices.Equal(now, reported) { // before the topic was read, it may be missing only for a moment
			continue
		}
		gone := slices.DeleteFunc(slices.Clone(reported), func(m control.Member) bool { return slices.Contains(now, m) })
		err := s.report(ctx, recordTime, now, gone)
		switch {
		case err == nil:
			reported, retry.Failures = now, 0
			continue
		case ctx.Err() == nil && !failed:
			failed = true
			s.log.Warn("cannot report which version runs here; brine ps and the console do not show it", "topic", s.control.Name(),
				"error", controlError(err, s.control.Name()))
		}
		_ = retry.Wait(ctx)
	}
	_ = s.report(context.WithoutCancel(ctx), removeTime, nil, reported) // what remains counts no longer than the group lists the member
}

// members returns the reports of this process, one for each half that has joined its group.
func (s *Service) members(process control.Member) (members []control.Member) {
	for _, h := range s.all() {
		if process.Group, process.ID = h.group, h.loop.Member(); process.ID != "" {
			members = append(members, process)
		}
	}
	return members
}

// report writes reports and removes others, among them what killed processes have left in the same groups.
func (s *Service) report(ctx context.Context, within time.Duration, members, gone []control.Member) error {
	if len(members)+len(gone) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	topic := openControl(s.Config(), s.log)
	defer topic.Close()
	return topic.Report(ctx, members, append(gone, s.killed(ctx, members)...))
}

// killed returns old reports in the groups of members that belong to no member any more. If brokers do not answer, the next process finds
// them.
func (s *Service) killed(ctx context.Context, members []control.Member) (left []control.Member) {
	client := brokers.Open(&s.Config().Kafka)
	defer client.Close()
	for _, m := range members {
		old := slices.DeleteFunc(s.control.Members(), func(o control.Member) bool {
			return o.Group != m.Group || time.Since(o.Started) < killedHolds
		})
		if len(old) == 0 {
			continue
		}
		listed, err := client.Members(ctx, m.Group)
		if err != nil {
			return left
		}
		left = append(left, slices.DeleteFunc(old, func(o control.Member) bool {
			return slices.ContainsFunc(listed, func(l offsets.Member) bool { return l.ID == o.ID })
		})...)
	}
	return left
}
