package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"brine/internal/backoff"
)

// Errors in the chain of what calls return.
var (
	ErrUnreachable = errors.New("no broker can be reached")
	ErrNoTopic     = errors.New("no such topic")
	ErrDenied      = errors.New("access denied")
)

// Answers of brokers that decide how to continue.
const (
	ErrOutOfRange    = kafka.OffsetOutOfRange   // the log does not have the offset
	ErrFenced        = kafka.FencedInstanceID   // another process has joined with our instance id
	ErrUnknownMember = kafka.UnknownMemberId    // of a commit: the group has members, and we are not one
	ErrOldCommit     = kafka.UnsupportedVersion // of a commit: the same, and they speak the consumer protocol

	ErrCredentials = kafka.SASLAuthenticationFailed // SASL: unknown user or wrong password
	ErrMechanism   = kafka.UnsupportedSASLMechanism // SASL: the broker accepts other mechanisms
	ErrNoSASL      = kafka.IllegalSASLState         // the listener accepts everybody, and no credentials
)

// unreachable returns the error for when no broker answers, or lets us ask.
func (c *Cluster) unreachable(err error) error {
	if errors.Is(err, ErrDenied) {
		return fmt.Errorf("kafka brokers %v: %w", c.kafka.Brokers, err)
	}
	return fmt.Errorf("kafka brokers %v: %w: %w", c.kafka.Brokers, ErrUnreachable, err)
}

// refusesUs reports whether a broker refuses our credentials altogether.
func refusesUs(err error) bool {
	return errors.Is(err, ErrCredentials) || errors.Is(err, ErrMechanism) || errors.Is(err, ErrNoSASL)
}

// topicError turns a broker's answer about a topic into an error with its fix; nil if the topic exists.
func (c *Cluster) topicError(topic string, err error, partitions int) error {
	switch {
	case errors.Is(err, kafka.UnknownTopicOrPartition), err == nil && partitions == 0:
		return fmt.Errorf("topic %q: %w on %v; create it, or correct the pipeline's topic", topic, ErrNoTopic, c.kafka.Brokers)
	case errors.Is(err, kafka.TopicAuthorizationFailed):
		return fmt.Errorf("topic %q: %w; the user needs DESCRIBE and READ on it", topic, ErrDenied)
	case err != nil:
		return fmt.Errorf("topic %q: %w", topic, err)
	}
	return nil
}

// Patiently repeats an attempt while no broker answers, or the error may pass, until the request timeout is over.
func (c *Cluster) Patiently(ctx context.Context, attempt func() error) error {
	for end, pauses := time.Now().Add(c.timeout), (backoff.Pauses{Base: 50 * time.Millisecond, Limit: time.Second}); ; {
		err := attempt()
		if mayPass(err) {
			err = c.unreachable(err)
		}
		if !errors.Is(err, ErrUnreachable) || time.Now().After(end) || pauses.Wait(ctx) != nil {
			return err
		}
	}
}

// mayPass reports whether an error may come from a broker that is stopping or has just started.
func mayPass(err error) bool {
	var answer kafka.Error // also a net.Error
	var network net.Error
	switch {
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrNoTopic), errors.Is(err, ErrDenied):
		return false
	case errors.As(err, &answer):
		return answer.Temporary() || answer == kafka.BrokerNotAvailable // kafka-go returns the latter while it does not know any broker
	}
	return ended(err) || errors.As(err, &network)
}

// Answered reports whether an error is a broker's answer, as opposed to the lack of one.
func Answered(err error) bool {
	answer, ok := errors.AsType[kafka.Error](err)
	return ok && answer != kafka.BrokerNotAvailable
}

// NoTopic reports whether an error means that a topic, or a partition of it, is missing.
func NoTopic(err error) bool {
	return errors.Is(err, kafka.UnknownTopicOrPartition) || errors.Is(err, ErrNoTopic)
}

// Unsettled reports whether an error may be due to a topic that was just created: not every broker knows of it yet, or we do not know its
// leaders.
func Unsettled(err error) bool {
	for _, of := range []error{protocol.ErrNoTopic, protocol.ErrNoPartition, protocol.ErrNoLeader, kafka.UnknownTopicOrPartition,
		kafka.LeaderNotAvailable, kafka.NotLeaderForPartition} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// Denied reports whether a broker refuses us access to a topic, or altogether.
func Denied(err error) bool {
	return errors.Is(err, kafka.TopicAuthorizationFailed) || errors.Is(err, kafka.SASLAuthenticationFailed)
}

// Temporary reports whether a broker's error will pass, for example one during a leader election.
func Temporary(err error) bool {
	answer, ok := errors.AsType[kafka.Error](err)
	return ok && answer.Temporary()
}

// Refused reports whether an error is a group's final answer, which a retry does not change.
func Refused(err error) bool {
	for _, final := range []kafka.Error{
		kafka.GroupAuthorizationFailed, kafka.TopicAuthorizationFailed, kafka.SASLAuthenticationFailed,
		kafka.InvalidSessionTimeout, kafka.InconsistentGroupProtocol, kafka.InvalidGroupId, kafka.UnsupportedVersion, kafka.FencedInstanceID,
		unsupportedAssignor, invalidRegex,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}
