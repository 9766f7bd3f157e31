package kafkaauth

import (
	"context"
	"errors"
	"net"
	"strconv"

	"github.com/segmentio/kafka-go/sasl"
	kgosasl "github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
)

// AWSKeys are keys of AWS IAM. Those of a role also have a Session, and expire with it.
type AWSKeys struct{ ID, Secret, Session string }

// AWS returns the mechanism AWS_MSK_IAM, which shows the brokers of Amazon MSK a request signed with the keys. It calls keys for each
// connection; the secret key is never sent.
func AWS(keys func() AWSKeys) sasl.Mechanism {
	return iam{aws.ManagedStreamingIAM(func(context.Context) (aws.Auth, error) {
		k := keys()
		return aws.Auth{AccessKey: k.ID, SecretKey: k.Secret, SessionToken: k.Session, UserAgent: "brine"}, nil
	})}
}

// iam adapts a mechanism of franz-go to kafka-go.
type iam struct{ of kgosasl.Mechanism }

func (m iam) Name() string { return m.of.Name() }

func (m iam) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	broker := sasl.MetadataFromContext(ctx)
	if broker == nil {
		return nil, nil, errors.New("aws: the broker's name is unknown")
	}
	session, first, err := m.of.Authenticate(ctx, net.JoinHostPort(broker.Host, strconv.Itoa(broker.Port)))
	if err != nil {
		return nil, nil, &refused{"kafka.sasl.aws", "use Amazon MSK's broker names (….kafka.REGION.amazonaws.com), or set AWS_REGION", err}
	}
	return signed{session}, first, nil
}

// signed is a request that a broker is checking.
type signed struct{ session kgosasl.Session }

// Next reads the broker's answer, which is a success; a refusal is an error of Kafka's.
func (s signed) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	return s.session.Challenge(challenge)
}
