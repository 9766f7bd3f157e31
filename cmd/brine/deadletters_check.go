package main

import (
	"context"
	"fmt"

	"brine/config"
	"brine/ingest"
)

// deadLetters asks whether the topic of dead letters takes whatever the pipeline's topic may hold. One that is not there is made so, by the
// first letter. Brokers that do not tell us the topics' settings leave the question open.
func (s *serverCheck) deadLetters(ctx context.Context, p *config.Pipeline) {
	takes, should, err := ingest.DeadLetterRoom(ctx, s.cfg.Ingest(p, p.RowsGroup()))
	if err != nil || takes >= should {
		return
	}
	topic := p.DeadLetterTopic()
	s.say(config.Warning, codeDiffers, "pipelines."+p.Name+".dead_letters",
		fmt.Sprintf("topic %s takes records of at most %s bytes, and a letter of the largest that %s takes has up to %s: its partition would wait",
			topic, thousands(int64(takes)), p.Topic, thousands(int64(should))),
		fmt.Sprintf("kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config max.message.bytes=%d", topic, should))
}
