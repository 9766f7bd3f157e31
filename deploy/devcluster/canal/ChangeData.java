package brine.devcluster;

import com.alibaba.otter.canal.connector.core.producer.MQDestination;
import com.alibaba.otter.canal.connector.core.util.Callback;
import com.alibaba.otter.canal.connector.kafka.producer.CanalKafkaProducer;
import com.alibaba.otter.canal.instance.core.CanalInstance;
import com.alibaba.otter.canal.instance.core.CanalMQConfig;
import com.alibaba.otter.canal.instance.manager.CanalInstanceWithManager;
import com.alibaba.otter.canal.instance.manager.model.Canal;
import com.alibaba.otter.canal.instance.manager.model.CanalParameter;
import com.alibaba.otter.canal.protocol.CanalEntry;
import com.alibaba.otter.canal.protocol.Message;
import com.alibaba.otter.canal.server.CanalMQStarter;
import com.alibaba.otter.canal.server.embedded.CanalServerWithEmbedded;
import ch.qos.logback.classic.Level;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.FileReader;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a database's log with Canal's server and publishes it with Canal's own publisher for Kafka, as canal.deployer would, once in flat
 * JSON and once in Protobuf:
 *
 * <pre>ChangeData PROPERTIES</pre>
 *
 * It starts at the beginning of the log's first file, or continues where it was. It prints the rows of the table fences, a line each: flat
 * or protobuf, a space, the first column. A line comes only when all changes before it are in Kafka. It runs until it is ended by a
 * signal.
 */
public final class ChangeData {
  private final Properties settings;

  private ChangeData(Properties settings) {
    this.settings = settings;
  }

  /** Instance is one reader of the log. Its changes go to the topics that settings name for its tables, and all others to topic. */
  private static final class Instance extends CanalInstanceWithManager {
    private Instance(Canal canal, String tables, String topic, String topics) {
      super(canal, tables);
      mqConfig = new CanalMQConfig();
      mqConfig.setTopic(topic);
      mqConfig.setDynamicTopic(topics);
      mqConfig.setPartition(0);
    }
  }

  private CanalInstance instance(String destination) {
    CanalParameter p = new CanalParameter();
    p.setDataDir(settings.getProperty("directory"));
    p.setMetaMode(CanalParameter.MetaMode.LOCAL_FILE);
    p.setMetaFileFlushPeriod(100);
    p.setIndexMode(CanalParameter.IndexMode.MEMORY_META_FAILBACK);
    p.setDbAddresses(
        List.of(new InetSocketAddress(settings.getProperty("host"), Integer.parseInt(settings.getProperty("port")))));
    p.setDbUsername(settings.getProperty("user"));
    p.setDbPassword(settings.getProperty("password"));
    p.setPositions(List.of("{\"journalName\":\"" + settings.getProperty("log") + "\",\"position\":4}"));
    p.setSlaveId(1000L + destination.length());
    p.setDetectingEnable(false);
    p.setParallel(true);
    p.setMultiStreamEnable(false);
    Canal canal = new Canal();
    canal.setId(p.getSlaveId());
    canal.setName(destination);
    canal.setCanalParameter(p);
    return new Instance(
        canal, settings.getProperty("tables"), settings.getProperty("topic"), settings.getProperty(destination));
  }

  /** Publisher prints the fences of what it has published. */
  private static final class Publisher extends CanalKafkaProducer {
    @Override
    public void send(MQDestination to, Message message, Callback callback) {
      super.send(
          to,
          message,
          new Callback() {
            @Override
            public void commit() {
              callback.commit();
              print(to.getCanalDestination(), message);
            }

            @Override
            public void rollback() {
              callback.rollback();
            }
          });
    }
  }

  private static void print(String destination, Message message) {
    try {
      List<CanalEntry.Entry> entries = new ArrayList<>(message.getEntries());
      for (ByteString raw : message.getRawEntries()) {
        entries.add(CanalEntry.Entry.parseFrom(raw));
      }
      for (CanalEntry.Entry entry : entries) {
        if (entry.getEntryType() == CanalEntry.EntryType.ROWDATA && entry.getHeader().getTableName().equals("fences")) {
          for (CanalEntry.RowData row : CanalEntry.RowChange.parseFrom(entry.getStoreValue()).getRowDatasList()) {
            if (row.getAfterColumnsCount() > 0) {
              System.out.println(destination + " " + row.getAfterColumns(0).getValue());
            }
          }
        }
      }
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
  }

  private void publish(String destination) {
    CanalServerWithEmbedded.instance().start(destination);
    Properties p = new Properties();
    p.putAll(settings);
    p.setProperty("canal.mq.flatMessage", String.valueOf(destination.equals("flat")));
    Publisher publisher = new Publisher();
    publisher.init(p);
    new CanalMQStarter(publisher).start(destination);
  }

  public static void main(String[] args) throws Exception {
    ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
    Properties settings = new Properties();
    try (Reader r = new FileReader(args[0], StandardCharsets.UTF_8)) {
      settings.load(r);
    }
    ChangeData data = new ChangeData(settings);
    CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
    Map<String, CanalInstance> instances = new HashMap<>();
    for (String destination : List.of("flat", "protobuf")) {
      instances.put(destination, data.instance(destination));
    }
    server.setCanalInstanceGenerator(instances::get);
    server.start();
    for (String destination : instances.keySet()) {
      data.publish(destination);
    }
  }
}
