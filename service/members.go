package service

import (
	"context"
	"net/http"
	"time"

	"brine/ingest/offsets"
	"brine/internal/wording"
	"brine/service/admin"
	"brine/service/brokers"
)

// Shown is what the admin port shows of a half: its Status and, for PipelinesPath?members, the members of its group.
type Shown struct {
	Status
	Members []offsets.Member `json:"members,omitempty"`
	Unknown string           `json:"members_unknown,omitempty"` // why the brokers did not list the members
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
	for i, h := range halves {
		members, err := client.Members(ctx, h.group)
		if shown[i].Members = members; err != nil {
			shown[i].Unknown = wording.Plain(err.Error())
		}
	}
}
