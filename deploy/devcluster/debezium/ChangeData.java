package brine.devcluster;

import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
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

/**
 * Reads a database's log with Debezium's engine and publishes it, as Kafka Connect would:
 *
 * <pre>ChangeData PROPERTIES BROKERS [DESTINATION=TOPIC…]</pre>
 *
 * Records of a destination that is named go to its topic; those of any other are printed, a line each: the destination, a space, the
 * value. A line comes only when all records before it are in Kafka. It runs until it is ended by a signal, or the engine fails.
 */
public final class ChangeData {
  private final Map<String, String> topics = new HashMap<>();
  private final KafkaProducer<byte[], byte[]> producer;

  private ChangeData(String[] args) {
    for (int i = 2; i < args.length; i++) {
      int at = args[i].indexOf('=');
      topics.put(args[i].substring(0, at), args[i].substring(at + 1));
    }
    Properties p = new Properties();
    p.put("bootstrap.servers", args[1]);
    p.put("max.request.size", "8388608");
    producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private void publish(
      List<ChangeEvent<String, String>> events, DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer)
      throws InterruptedException {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (ChangeEvent<String, String> e : events) {
      String topic = topics.get(e.destination());
      if (topic != null) {
        sent.add(producer.send(new ProducerRecord<>(topic, bytes(e.key()), bytes(e.value()))));
      }
    }
    for (Future<RecordMetadata> f : sent) {
      try {
        f.get();
      } catch (java.util.concurrent.ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    for (ChangeEvent<String, String> e : events) {
      if (!topics.containsKey(e.destination())) {
        System.out.println(e.destination() + " " + e.value());
      }
      committer.markProcessed(e);
    }
    committer.markBatchFinished();
  }

  private static byte[] bytes(String s) {
    return s == null ? null : s.getBytes(StandardCharsets.UTF_8);
  }

  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    try (Reader r = new FileReader(args[0], StandardCharsets.UTF_8)) {
      settings.load(r);
    }
    DebeziumEngine<ChangeEvent<String, String>> engine =
        DebeziumEngine.create(Json.class)
            .using(settings)
            .notifying(new ChangeData(args)::publish)
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
