package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/internal/backoff"
)

// errNoPartition is for an answer that may stand for progress that was not kept, or for none: records would be published twice.
var errNoPartition = errors.New("the answer lacks the requested partition")

// remember commits the progress within the open transaction.
func (p *Transactions) remember(ctx context.Context, at int64, digest string) error {
	id, epoch, err := p.client.ProducerID(ctx)
	if err != nil {
		return err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = p.Name, id, epoch, p.Name
	err = retried(ctx, func() error {
		resp, err := add.RequestWith(ctx, p.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil {
		return fmt.Errorf("progress in group %s: %w", p.Name, err)
	}
	offset := kmsg.NewPtrTxnOffsetCommitRequest()
	offset.TransactionalID, offset.ProducerID, offset.ProducerEpoch, offset.Group = p.Name, id, epoch, p.Name
	offset.Generation = -1
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Partition, part.Offset, part.Metadata = 0, at, &digest
	offset.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: p.Topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{part}}}
	err = retried(ctx, func() error {
		resp, err := offset.RequestWith(ctx, p.client)
		if err != nil {
			return err
		}
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
			return errNoPartition
		}
		return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	})
	if err != nil {
		return fmt.Errorf("progress in group %s: %w", p.Name, err)
	}
	return nil
}

// progress reads what was published under the name before. It waits until a transaction that is being aborted has ended.
func (p *Transactions) progress(ctx context.Context) (n int64, digest string, err error) {
	ask := kmsg.NewPtrOffsetFetchRequest()
	ask.Group, ask.RequireStable = p.Name, true
	ask.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: p.Topic, Partitions: []int32{0}}}
	err = retried(ctx, func() error {
		resp, err := ask.RequestWith(ctx, p.client)
		if err != nil {
			return err
		}
		switch err := kerr.ErrorForCode(resp.ErrorCode); {
		case errors.Is(err, kerr.GroupIDNotFound): // nothing was published under this name
			return nil
		case err != nil:
			return err
		case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
			return errNoPartition
		}
		part := resp.Topics[0].Partitions[0]
		if err := kerr.ErrorForCode(part.ErrorCode); err != nil {
			return err
		}
		n = max(0, part.Offset)
		if part.Metadata != nil {
			digest = *part.Metadata
		}
		return nil
	})
	if err != nil {
		return 0, "", fmt.Errorf("progress in group %s: %w", p.Name, err)
	}
	return n, digest, nil
}

// retried repeats a request while the broker's errors are retriable, for as long as a transaction may last.
func retried(ctx context.Context, request func() error) error {
	ctx, cancel := context.WithTimeout(ctx, txnTimeout)
	defer cancel()
	for failures := 0; ; failures++ {
		err := request()
		if err == nil || !kerr.IsRetriable(err) {
			return err
		}
		if backoff.Wait(ctx, backoff.Exponential(20*time.Millisecond, time.Second, failures)) != nil {
			return err
		}
	}
}
