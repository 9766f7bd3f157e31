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

// Shown is what the admin port shows of a half: its Status and, where PipelinesPath?members asks for them, the members of its group.
type Shown struct {
	Status
	Members []offsets.Member `json:"members,omitempty"`
	Unknown string           `json:"members_unknown,omitempty"` // why the brokers did not say who they are
}

// membersPatience is for what brokers say of all groups.
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

// addMembers asks the brokers who is in the halves' groups.
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
