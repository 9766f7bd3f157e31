package main

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/ingest"
	"brine/internal/when"
)

type deadlettersCmd struct {
	Ls     deadlettersLsCmd     `cmd:"" help:"List records that could not be written."`
	Show   deadlettersShowCmd   `cmd:"" help:"Show one of them whole."`
	Replay deadlettersReplayCmd `cmd:"" help:"Write them again, once what they failed for is fixed."`
}

// letterFilter says which dead letters are meant.
type letterFilter struct {
	configFlag
	timeoutFlag
	Pipeline  string   `placeholder:"NAME" help:"Only of this pipeline."`
	Half      string   `enum:"rows,documents,both" default:"both" help:"Only those that the rows or the documents could not be made of: rows, documents or both (default)."`
	Reason    []string `placeholder:"REASON,…" help:"Only for these reasons, as missing_field."`
	Since     string   `placeholder:"TIME" help:"Only dead letters written at this time or later, as 2013-01-31T08:00:00Z, or so long ago, as 2h."`
	Until     string   `placeholder:"TIME" help:"Only dead letters written before this time."`
	Partition []int    `placeholder:"N" help:"Only records of these partitions of the pipeline's topic."`
	Key       *string  `placeholder:"KEY" help:"Only records of this key; bytes that are no text as \\xNN."`
	Text      string   `placeholder:"TEXT" help:"Only where the record's key, value or headers, or the letter's field or detail, hold this text."`
	All       bool     `help:"Also dead letters that have been replayed."`

	since, until time.Time
	key          []byte
}

// letterHelp is shown under the help of each of the commands.
const letterHelp = `A record that can never be written is kept whole, with the reason, in the topic <topic>.dead. It is known by its place in
the pipeline's own topic, PARTITION:OFFSET; where the same record was rejected several times, the last dead letter counts.`

func (f *letterFilter) parse(now time.Time) (err error) {
	if f.since, err = parseTime("--since", f.Since, now); err != nil {
		return usage(err)
	}
	if f.until, err = parseTime("--until", f.Until, now); err != nil {
		return usage(err)
	}
	for _, reason := range f.Reason {
		if !slices.Contains(event.Rejects, event.Reason(reason)) {
			return usage(fmt.Errorf("--reason %q: no record is rejected for it; dead letters have %s", reason, texts(event.Rejects)))
		}
	}
	if f.Key != nil {
		if f.key, err = unescape(*f.Key); err != nil {
			return usage(fmt.Errorf("--key: %w", err))
		}
	}
	return nil
}

func texts(reasons []event.Reason) string {
	var all []string
	for _, reason := range reasons {
		all = append(all, string(reason))
	}
	return strings.Join(all, ", ")
}

// parseTime reads a time, or how long ago that is; empty gives the zero time.
func parseTime(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := when.Time(text, now)
	if err != nil {
		return t, fmt.Errorf("%s: %w", flag, err)
	}
	return t, nil
}

// takes reports whether a letter is meant.
func (f *letterFilter) takes(l *foundLetter) bool {
	switch {
	case !f.All && !l.Replayed.IsZero(),
		f.Pipeline != "" && (l.pipeline == nil || l.pipeline.Name != f.Pipeline),
		f.Half != "both" && f.Half != "" && l.half != f.Half,
		len(f.Reason) > 0 && !slices.Contains(f.Reason, string(l.Reason)),
		len(f.Partition) > 0 && !slices.Contains(f.Partition, l.Record.Partition),
		!f.since.IsZero() && l.Time.Before(f.since),
		!f.until.IsZero() && !l.Time.Before(f.until),
		f.Key != nil && !bytes.Equal(l.Record.Key, f.key):
		return false
	}
	return f.Text == "" || l.holds(f.Text)
}

// foundLetter is a letter with the half of the configuration that it belongs to; pipeline is nil when there is none such.
type foundLetter struct {
	ingest.KeptLetter
	pipeline *config.Pipeline
	half     string // rows or documents
	topic    string // of the dead letters
}

func (l *foundLetter) holds(text string) bool {
	if strings.Contains(l.Field, text) || strings.Contains(l.Detail, text) {
		return true
	}
	in := func(b []byte) bool { return bytes.Contains(b, []byte(text)) }
	return in(l.Record.Key) || in(l.Record.Value) ||
		slices.ContainsFunc(l.Record.Headers, func(h event.Header) bool { return strings.Contains(h.Key, text) || in(h.Value) })
}

// name is pipeline.half, or the group when the configuration has none such.
func (l *foundLetter) name() string {
	if l.pipeline == nil {
		return l.Group
	}
	return l.pipeline.Name + "." + l.half
}

// record is where the record was.
func (l *foundLetter) record() string {
	return fmt.Sprintf("%d:%d", l.Record.Partition, l.Record.Offset)
}

// letterPlace is a place in a topic of dead letters.
type letterPlace struct {
	topic     string
	partition int
	offset    int64
}

func (p letterPlace) String() string { return fmt.Sprintf("%s/%d:%d", p.topic, p.partition, p.offset) }

// parsePlace reads TOPIC/PARTITION:OFFSET; the topic may be left out.
func parsePlace(text string) (p letterPlace, err error) {
	at := strings.LastIndex(text, "/")
	p.topic = text[:max(at, 0)]
	partition, offset, ok := strings.Cut(text[at+1:], ":")
	var errs [2]error
	p.partition, errs[0] = strconv.Atoi(partition)
	p.offset, errs[1] = strconv.ParseInt(offset, 10, 64)
	if !ok || errors.Join(errs[:]...) != nil || p.partition < 0 || p.offset < 0 {
		return p, fmt.Errorf("%q is not PARTITION:OFFSET", text)
	}
	return p, nil
}

// letterScan reads the dead letters of a configuration, and counts.
type letterScan struct {
	cfg        *config.Config
	filter     *letterFilter
	topics     []*config.Pipeline // one for each topic of dead letters
	undeclared bool               // no configuration declares the pipelines: what letters say of theirs is all that is known

	records, repeats, foreign int64
	read                      []string // the topics that are there
}

func newLetterScan(e *env, cfg *config.Config, f *letterFilter) (*letterScan, error) {
	if len(cfg.Pipelines) == 0 {
		return findLetterScan(e, cfg, f)
	}
	if f.Pipeline != "" {
		if _, err := pipeline(cfg, f.Pipeline); err != nil {
			return nil, err
		}
	}
	s := &letterScan{cfg: cfg, filter: f}
	for _, p := range cfg.Pipelines {
		same := func(q *config.Pipeline) bool { return q.DeadLetterTopic() == p.DeadLetterTopic() }
		if (f.Pipeline == "" || f.Pipeline == p.Name) && !slices.ContainsFunc(s.topics, same) {
			s.topics = append(s.topics, p)
		}
	}
	return s, f.parse(time.Now())
}

// findLetterScan reads what the brokers have, of pipelines that no configuration declares.
func findLetterScan(e *env, cfg *config.Config, f *letterFilter) (*letterScan, error) {
	if err := findDeadLetters(e.ctx, cfg, kafkaClient(&cfg.Kafka)); err != nil {
		return nil, err
	}
	return &letterScan{cfg: cfg, filter: f, topics: cfg.Pipelines, undeclared: true}, f.parse(time.Now())
}

// letters returns those that the filter takes, topic by topic and partition by partition, behind a place. Each is valid until the next.
func (s *letterScan) letters(e *env, after letterPlace) iter.Seq2[*foundLetter, error] {
	return func(yield func(*foundLetter, error) bool) {
		for _, p := range s.topics {
			topic, from := p.DeadLetterTopic(), letterPlace{}
			if after.topic != "" {
				if topic != after.topic {
					continue
				}
				from, after = letterPlace{partition: after.partition, offset: after.offset + 1}, letterPlace{}
			}
			if !s.topic(e, p, topic, from, yield) {
				return
			}
		}
	}
}

func (s *letterScan) topic(e *env, p *config.Pipeline, topic string, from letterPlace, yield func(*foundLetter, error) bool) bool {
	log, err := ingest.OpenDeadLetters(e.ctx, s.cfg.Ingest(p, p.RowsGroup()))
	if errors.Is(err, ingest.ErrNoTopic) {
		return true // nothing has been rejected yet
	}
	if err != nil {
		yield(nil, loopError(err))
		return false
	}
	defer log.Close()
	defer func() {
		records, repeats, foreign := log.Scanned()
		s.records, s.repeats, s.foreign = s.records+records, s.repeats+repeats, s.foreign+foreign
	}()
	s.read = append(s.read, topic)
	for kept, err := range log.Letters(e.ctx, from.partition, from.offset) {
		if err != nil {
			yield(nil, err)
			return false
		}
		found := s.found(kept, topic)
		if s.filter.takes(found) && !yield(found, nil) {
			return false
		}
	}
	return true
}

// found looks up whose letter it is.
func (s *letterScan) found(kept ingest.KeptLetter, topic string) *foundLetter {
	f := &foundLetter{KeptLetter: kept, topic: topic}
	for _, p := range s.cfg.Pipelines {
		switch kept.Group {
		case p.RowsGroup():
			f.pipeline, f.half = p, "rows"
		case p.DocumentsGroup():
			f.pipeline, f.half = p, "documents"
		}
	}
	if name, half, ok := s.cfg.Kafka.PipelineOf(kept.Group); ok && s.undeclared {
		f.pipeline, f.half = &config.Pipeline{Name: name}, half
	}
	return f
}
