package brine.devcluster;

import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.transforms.ExtractNewRecordState;
import java.io.FileReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Reads a database's log with Debezium's engine and publishes it, as Kafka Connect would:
 *
 * <pre>ChangeData PROPERTIES BROKERS [DESTINATION=FORM:TOPIC…]</pre>
 *
 * The forms are Kafka Connect's JSON without schemas (json), with them (schema), and of rows alone (unwrapped), and Avro by Apicurio's converter
 * and the registry at the property registry.url: as it is by default (avro), or with ids as Confluent's (confluent).
 *
 * Records of a destination that is named go to its topics, in a form each; those of any other are printed, a line each: the destination, a
 * space, the value. A line comes only when all records before it are in Kafka. It runs until it is ended by a signal, or the engine fails.
 */
public final class ChangeData {
  private final Map<String, List<Target>> targets = new HashMap<>();
  private final KafkaProducer<byte[], byte[]> producer;
  private final Form printed = Form.json(false, null);
  private final String registry;

  private ChangeData(String[] args, String registry) {
    this.registry = registry;
    for (int i = 2; i < args.length; i++) {
      int at = args[i].indexOf('='), end = args[i].indexOf(':', at);
      Form form = form(args[i].substring(at + 1, end));
      targets.computeIfAbsent(args[i].substring(0, at), d -> new ArrayList<>()).add(new Target(args[i].substring(end + 1), form));
    }
    Properties p = new Properties();
    p.put("bootstrap.servers", args[1]);
    p.put("max.request.size", "8388608");
    producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** A topic, and the form that records have there. */
  private record Target(String topic, Form form) {}

  /** How keys and values are written, after a transform if there is one. */
  private record Form(Converter keys, Converter values, HeaderConverter headers, Transformation<SourceRecord> transform) {

    /** Kafka Connect's JSON, with its schemas or without them. */
    static Form json(boolean schemas, Transformation<SourceRecord> transform) {
      return of(new JsonConverter(), new JsonConverter(), Map.of("schemas.enable", schemas), transform);
    }

    /** Avro, by Apicurio's converter, which not every connector has beside it. */
    static Form avro(String registry, Map<String, Object> settings) {
      Map<String, Object> all = new HashMap<>(settings);
      all.put("apicurio.registry.url", registry);
      all.put("apicurio.registry.auto-register", true);
      try {
        var converter = Class.forName("io.apicurio.registry.utils.converter.AvroConverter").getDeclaredConstructor();
        return of((Converter) converter.newInstance(), (Converter) converter.newInstance(), all, null);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    private static Form of(Converter keys, Converter values, Map<String, ?> settings, Transformation<SourceRecord> transform) {
      keys.configure(settings, true);
      values.configure(settings, false);
      return new Form(keys, values, new SimpleHeaderConverter(), transform);
    }

    byte[] value(String topic, SourceRecord r) {
      return values.fromConnectData(topic, r.valueSchema(), r.value());
    }

    /** The record as it is published; null: the transform drops it. */
    ProducerRecord<byte[], byte[]> in(String topic, SourceRecord r) {
      if (transform != null) {
        r = transform.apply(r);
      }
      if (r == null) {
        return null;
      }
      var out = new ProducerRecord<>(topic, keys.fromConnectData(topic, r.keySchema(), r.key()), value(topic, r));
      for (Header h : r.headers()) {
        out.headers().add(h.key(), headers.fromConnectHeader(topic, h.key(), h.schema(), h.value()));
      }
      return out;
    }
  }

  private Form form(String name) {
    return switch (name) {
      case "json" -> Form.json(false, null);
      case "schema" -> Form.json(true, null);
      case "avro" -> Form.avro(registry, Map.of());
      case "confluent" -> Form.avro(registry, Map.of("apicurio.registry.as-confluent", true, "apicurio.registry.use-id", "contentId"));
      case "unwrapped" -> {
        var unwrap = new ExtractNewRecordState<SourceRecord>();
        unwrap.configure(
            Map.of(
                "delete.tombstone.handling.mode", "tombstone",
                "add.headers", "source.lsn,source.name",
                "add.fields", "op,source.snapshot"));
        yield Form.json(false, unwrap);
      }
      default -> throw new IllegalArgumentException("there is no form " + name);
    };
  }

  private void publish(
      List<ChangeEvent<SourceRecord, SourceRecord>> events,
      DebeziumEngine.RecordCommitter<ChangeEvent<SourceRecord, SourceRecord>> committer)
      throws InterruptedException {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (ChangeEvent<SourceRecord, SourceRecord> e : events) {
      for (Target t : targets.getOrDefault(e.destination(), List.of())) {
        ProducerRecord<byte[], byte[]> record = t.form.in(t.topic, e.value());
        if (record != null) {
          sent.add(producer.send(record));
        }
      }
    }
    for (Future<RecordMetadata> f : sent) {
      try {
        f.get();
      } catch (java.util.concurrent.ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    for (ChangeEvent<SourceRecord, SourceRecord> e : events) {
      byte[] value = targets.containsKey(e.destination()) ? null : printed.value(e.destination(), e.value());
      if (value != null) {
        System.out.println(e.destination() + " " + new String(value, StandardCharsets.UTF_8));
      }
      committer.markProcessed(e);
    }
    committer.markBatchFinished();
  }

  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    try (Reader r = new FileReader(args[0], StandardCharsets.UTF_8)) {
      settings.load(r);
    }
    DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine =
        DebeziumEngine.create(Connect.class)
            .using(settings)
            .notifying(new ChangeData(args, settings.getProperty("registry.url"))::publish)
            .using(
                (ok, message, error) -> {
                  System.err.println("the engine has ended: " + message);
                  if (error != null) {
                    error.printStackTrace();
                  }
                  Runtime.getRuntime().halt(ok ? 0 : 1);
                })
            .build();
    engine.run();
  }
}
