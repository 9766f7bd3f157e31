import com.stumbleupon.async.Deferred;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.hbase.async.AppendRequest;
import org.hbase.async.AtomicIncrementRequest;
import org.hbase.async.Config;
import org.hbase.async.DeleteRequest;
import org.hbase.async.GetRequest;
import org.hbase.async.GetResultOrException;
import org.hbase.async.HBaseClient;
import org.hbase.async.KeyValue;
import org.hbase.async.PutRequest;
import org.hbase.async.Scanner;

/**
 * Runs the reads and changes of conformance scripts with asynchbase, which finds HBase in ZooKeeper, has no calls to the master, and
 * shares no code with HBase's own client. The language is described in hbasetest's doc.go; Conform.java is the same for HBase's own client.
 *
 * <p>Usage: Async host:port prefix script…. Prints, for every operation that it knows, "== script line" and its answer. It leaves the
 * other operations to whoever runs it.
 */
public final class Async {
  private static final Set<String> KNOWN = Set.of("put", "delete", "batch", "check", "increment", "append", "get", "gets", "values", "scan",
      "count");
  private static final long PATIENCE_MS = 120_000;

  private final HBaseClient client;
  private final String prefix;
  private final List<String> answer = new ArrayList<>();

  private Async(HBaseClient client, String prefix) {
    this.client = client;
    this.prefix = prefix;
  }

  public static void main(String[] args) throws Exception {
    Config config = new Config();
    config.overrideConfig("hbase.zookeeper.quorum", args[0]);
    config.overrideConfig("hbase.meta.scan", "true"); // HBase 2 has no getClosestRowBefore
    HBaseClient client = new HBaseClient(config);
    for (String script : Arrays.asList(args).subList(2, args.length)) {
      Path path = Path.of(script);
      new Async(client, args[1] + path.getFileName().toString().replace(".txt", "") + "_").run(path);
    }
    client.shutdown().join(PATIENCE_MS);
    System.out.flush();
    System.exit(0); // the client's threads linger
  }

  private void run(Path script) throws Exception {
    List<String> lines = Files.readAllLines(script, StandardCharsets.US_ASCII);
    for (int i = 0; i < lines.size(); i++) {
      String[] op = lines.get(i).split(" +");
      if (!KNOWN.contains(op[0])) {
        continue;
      }
      int first = i + 1;
      List<String[]> more = new ArrayList<>();
      while (i + 1 < lines.size() && lines.get(i + 1).startsWith("+ ")) {
        more.add(lines.get(++i).substring(2).split(" +"));
      }
      answer.clear();
      try {
        run(op, more);
      } catch (Exception e) {
        say("error %s", name(e));
        System.err.println(script.getFileName() + ":" + first + ": " + line(e));
      }
      System.out.println("== " + script.getFileName() + " " + first);
      answer.forEach(a -> System.out.println(a.replace(prefix, "")));
    }
  }

  private void run(String[] op, List<String[]> more) throws Exception {
    byte[] table = (prefix + op[1]).getBytes(StandardCharsets.US_ASCII);
    switch (op[0]) {
      case "put": case "delete": change(table, op[0], op[2], op, 3, false).join(PATIENCE_MS); say("ok"); return;
      case "batch": batch(table, more); return;
      case "check": check(table, op, more); return;
      case "increment": increment(table, op); return;
      case "append": append(table, op); return;
      case "get": cells(client.get(get(table, op, 2)).join(PATIENCE_MS), "", true); return;
      case "values": cells(client.get(get(table, op, 2)).join(PATIENCE_MS), "", false); return;
      case "gets": gets(table, more); return;
      case "scan": scan(table, op); return;
      default: count(table); return;
    }
  }

  /** change sends a put or a delete of a row: one request per family and time. A buffered one waits for others. */
  private Deferred<?> change(byte[] table, String kind, String row, String[] words, int from, boolean buffered) {
    List<Deferred<Object>> sent = new ArrayList<>();
    for (String word : Arrays.asList(words).subList(from, words.length)) {
      Text.CellWord c = new Text.CellWord(word);
      if (kind.equals("put")) {
        PutRequest put = new PutRequest(table, Text.bytes(row), c.family, c.qualifier, c.value, c.time);
        put.setBufferable(buffered);
        sent.add(client.put(put));
        continue;
      }
      DeleteRequest delete;
      switch (c.kind) {
        case "version": case "column": delete = new DeleteRequest(table, Text.bytes(row), c.family, c.qualifier, c.time); break;
        case "family": delete = new DeleteRequest(table, Text.bytes(row), c.family, c.time); break;
        default: throw new IllegalArgumentException("no such kind of delete: " + word);
      }
      delete.setDeleteAtTimestampOnly(c.kind.equals("version"));
      delete.setBufferable(buffered);
      sent.add(client.delete(delete));
    }
    return sent.size() == 1 ? sent.get(0) : Deferred.group(sent);
  }

  /** batch sends rows together, in one Multi per server. */
  private void batch(byte[] table, List<String[]> more) throws Exception {
    List<Deferred<?>> sent = new ArrayList<>();
    for (String[] line : more) {
      sent.add(change(table, line[0], line[1], line, 2, true));
    }
    client.flush();
    for (Deferred<?> one : sent) {
      try {
        one.join(PATIENCE_MS);
        say("%d ok", answer.size());
      } catch (Exception e) {
        say("%d error %s", answer.size(), name(e));
        System.err.println(line(e));
      }
    }
  }

  /** check puts one cell if its column is absent or has a value. */
  private void check(byte[] table, String[] op, List<String[]> more) throws Exception {
    Text.CellWord c = new Text.CellWord(more.get(0)[2]);
    byte[][] column = Text.column(op[3]);
    if (more.size() > 1 || more.get(0).length > 3 || !Arrays.equals(column[0], c.family) || !Arrays.equals(column[1], c.qualifier)) {
      throw new IllegalArgumentException("compareAndSet changes the column that it compares, and no other");
    }
    PutRequest put = new PutRequest(table, Text.bytes(op[2]), c.family, c.qualifier, c.value, c.time);
    switch (op[4]) {
      case "absent": say("%s", client.atomicCreate(put).join(PATIENCE_MS)); return;
      case "is": say("%s", client.compareAndSet(put, Text.bytes(op[5])).join(PATIENCE_MS)); return;
      default: throw new IllegalArgumentException("no such comparison: " + op[4]);
    }
  }

  private void increment(byte[] table, String[] op) throws Exception {
    String[] pair = op[3].split("=", 2);
    byte[][] column = Text.column(pair[0]);
    long sum = client.atomicIncrement(
        new AtomicIncrementRequest(table, Text.bytes(op[2]), column[0], column[1], Long.parseLong(pair[1]))).join(PATIENCE_MS);
    value(Text.bytes(op[2]), column, ByteBuffer.allocate(Long.BYTES).putLong(sum).array());
  }

  private void append(byte[] table, String[] op) throws Exception {
    String[] pair = op[3].split("=", 2);
    byte[][] column = Text.column(pair[0]);
    AppendRequest append = new AppendRequest(table, Text.bytes(op[2]), column[0], column[1], Text.bytes(pair[1]));
    append.setBufferable(false);
    append.returnResult(true);
    KeyValue sum = (KeyValue) client.append(append).join(PATIENCE_MS);
    value(sum.key(), column, sum.value());
  }

  private static GetRequest get(byte[] table, String[] words, int row) {
    GetRequest get = new GetRequest(table, Text.bytes(words[row]));
    for (String word : Arrays.asList(words).subList(row + 1, words.length)) {
      String[] option = word.split("=", 2);
      switch (option[0]) {
        case "columns":
          byte[][] column = Text.column(option[1]);
          get.family(column[0]);
          if (column[1].length > 0) {
            get.qualifier(column[1]);
          }
          break;
        case "versions": get.maxVersions(Integer.parseInt(option[1])); break;
        case "times": get.setTimeRange(times(option[1])[0], times(option[1])[1]); break;
        default: throw new IllegalArgumentException("no such option: " + word);
      }
    }
    return get;
  }

  private void gets(byte[] table, List<String[]> more) throws Exception {
    List<GetRequest> gets = new ArrayList<>();
    for (String[] line : more) {
      gets.add(get(table, line, 0));
    }
    List<GetResultOrException> rows = client.get(gets).join(PATIENCE_MS);
    for (int i = 0; i < rows.size(); i++) {
      if (rows.get(i).getException() != null) {
        throw rows.get(i).getException();
      }
      cells(rows.get(i).getCells(), i + " ", true);
    }
  }

  private void scan(byte[] table, String[] op) throws Exception {
    Scanner scanner = client.newScanner(table);
    int limit = Integer.MAX_VALUE;
    for (String word : Arrays.asList(op).subList(2, op.length)) {
      String[] option = word.split("=", 2);
      switch (option[0]) {
        case "start": scanner.setStartKey(Text.bytes(option[1])); break;
        case "stop": scanner.setStopKey(Text.bytes(option[1])); break;
        case "reverse": scanner.setReversed(true); break;
        case "limit": limit = Integer.parseInt(option[1]); break;
        case "caching": scanner.setMaxNumRows(Integer.parseInt(option[1])); break;
        case "bytes": scanner.setMaxNumBytes(Long.parseLong(option[1])); break;
        case "versions": scanner.setMaxVersions(Integer.parseInt(option[1])); break;
        case "times": scanner.setTimeRange(times(option[1])[0], times(option[1])[1]); break;
        case "columns":
          byte[][] column = Text.column(option[1]);
          scanner.setFamily(column[0]);
          if (column[1].length > 0) {
            scanner.setQualifier(column[1]);
          }
          break;
        default: throw new IllegalArgumentException("no such option: " + word);
      }
    }
    int rows = 0;
    for (ArrayList<ArrayList<KeyValue>> some; rows < limit && (some = scanner.nextRows().join(PATIENCE_MS)) != null;) {
      for (ArrayList<KeyValue> row : some.subList(0, Math.min(some.size(), limit - rows))) {
        rows++;
        cells(row, "", true);
      }
    }
    scanner.close().join(PATIENCE_MS);
    say("%d rows", rows);
  }

  private void count(byte[] table) throws Exception {
    Scanner scanner = client.newScanner(table);
    int rows = 0;
    for (ArrayList<ArrayList<KeyValue>> some; (some = scanner.nextRows().join(PATIENCE_MS)) != null;) {
      rows += some.size();
    }
    say("%d rows", rows);
  }

  private void cells(List<KeyValue> row, String head, boolean timed) throws Exception {
    if (row.isEmpty()) {
      say("%snone", head);
    }
    for (KeyValue c : row) {
      byte[][] column = {c.family(), c.qualifier()};
      if (timed) {
        say("%s%s %s@%s=%s", head, Text.word(c.key()), name(column), Text.time(c.timestamp()), Text.word(c.value()));
      } else {
        value(c.key(), column, c.value());
      }
    }
  }

  private void value(byte[] row, byte[][] column, byte[] value) throws Exception {
    say("%s %s=%s", Text.word(row), name(column), Text.word(value));
  }

  private static String name(byte[][] column) throws Exception {
    return Text.word(column[0]) + ":" + Text.word(column[1]);
  }

  /** The exception's class without its package; of a group of requests, that of the first that failed. */
  private static String name(Throwable e) {
    Throwable cause = e;
    while (cause.getClass().getSimpleName().equals("DeferredGroupException")) {
      cause = cause.getCause();
    }
    return cause.getClass().getSimpleName();
  }

  private static String line(Exception e) {
    return e.toString().split("\n")[0];
  }

  private static long[] times(String word) {
    return Arrays.stream(word.split(",", 2)).mapToLong(Text::time).toArray();
  }

  private void say(String format, Object... args) {
    answer.add(String.format(format, args));
  }
}
