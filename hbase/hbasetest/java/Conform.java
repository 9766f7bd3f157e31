import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Runs conformance scripts with HBase's own client. The language is described in hbasetest's doc.go; goclient.go is the same
 * for our client.
 *
 * <p>Usage: Conform rpc://host:port prefix script…. The scripts run side by side, each with "prefix" and its own name before every
 * table, and with a connection of its own: a failure of one script drops a server's regions from the connection's cache, and the
 * region of the longest row key is only found there (the client's look-up adds to the key, which is then too long for a scan).
 * Prints, for every operation, "== script line" and its answer.
 */
public final class Conform {
  private final Connection connection;
  private final Admin admin;
  private final Regions regions;
  private final String prefix;
  private final List<String> answer = new ArrayList<>();

  private Conform(Connection connection, String prefix) throws IOException {
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.regions = new Regions(connection, admin);
    this.prefix = prefix;
  }

  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(6); // mostly waiting for the master
    List<Future<String>> outputs = new ArrayList<>();
    for (String script : Arrays.asList(args).subList(2, args.length)) {
      outputs.add(pool.submit(() -> {
        Path path = Path.of(script);
        String name = path.getFileName().toString().replace(".txt", "");
        try (Connection connection = RowDigest.connect(args[0])) {
          return new Conform(connection, args[1] + name + "_").run(path);
        }
      }));
    }
    for (Future<String> output : outputs) {
      System.out.print(output.get());
    }
    System.out.flush();
    System.exit(0); // the client's threads linger
  }

  private String run(Path script) throws IOException {
    StringBuilder out = new StringBuilder();
    List<String> lines = Files.readAllLines(script, StandardCharsets.US_ASCII);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.isBlank() || line.startsWith("#") || line.startsWith("  ")) {
        continue;
      }
      int first = i;
      List<String[]> more = new ArrayList<>();
      while (i + 1 < lines.size() && lines.get(i + 1).startsWith("+ ")) {
        more.add(lines.get(++i).substring(2).split(" +"));
      }
      answer.clear();
      long began = System.currentTimeMillis();
      try {
        run(line.split(" +"), more);
      } catch (Exception e) {
        say("error %s", name(e));
        explain(script, first, e);
      }
      long took = System.currentTimeMillis() - began;
      if (took > 2_000) {
        System.err.println(script.getFileName() + ":" + (first + 1) + ": took " + took + " ms");
      }
      out.append("== ").append(script.getFileName()).append(" ").append(first + 1).append("\n");
      answer.forEach(a -> out.append(a.replace(prefix, "")).append("\n"));
    }
    return out.toString();
  }

  private void run(String[] op, List<String[]> more) throws Exception {
    TableName table = op.length > 1 && !op[0].endsWith("namespace") && !op[0].equals("tables") && !op[0].endsWith("-peer") ? TableName.valueOf(prefix + op[1]) : null;
    switch (op[0]) {
      case "create-namespace": admin.createNamespace(NamespaceDescriptor.create(prefix + op[1]).build()); ok(); return;
      case "drop-namespace": admin.deleteNamespace(prefix + op[1]); ok(); return;
      case "create": create(table, op); return;
      case "disable": admin.disableTable(table); ok(); return;
      case "enable": admin.enableTable(table); ok(); return;
      case "drop": admin.deleteTable(table); ok(); return;
      case "alter": regions.alter(table, op[2]); ok(); return;
      case "flush": admin.flush(table); ok(); return;
      case "compact": regions.compact(table); ok(); return;
      case "split": regions.split(table, op[2]); ok(); return;
      case "merge": regions.merge(table, Arrays.copyOfRange(op, 2, op.length)); ok(); return;
      case "move": regions.move(table, op[2]); ok(); return;
      case "snapshot": Snapshots.take(admin, table, prefix + op[2], op.length > 3 ? op[3] : "flush"); ok(); return;
      case "snapshots": Snapshots.list(admin, table).forEach(line -> say("%s", line)); return;
      case "clone-snapshot": admin.cloneSnapshot(prefix + op[1], TableName.valueOf(prefix + op[2])); ok(); return;
      case "restore-snapshot": admin.restoreSnapshot(prefix + op[1]); ok(); return;
      case "drop-snapshot": admin.deleteSnapshot(prefix + op[1]); ok(); return;
      case "grant": Rights.grant(admin, table, op); ok(); return;
      case "revoke": Rights.revoke(admin, table, op); ok(); return;
      case "permissions": Rights.permissions(admin, table).forEach(line -> say("%s", line)); return;
      case "throttle": Rights.throttle(admin, table, op); ok(); return;
      case "space": Rights.space(admin, table, op); ok(); return;
      case "quotas": Rights.quotas(connection, table).forEach(line -> say("%s", line)); return;
      case "add-peer": Rights.addPeer(admin, prefix, op); ok(); return;
      case "remove-peer": admin.removeReplicationPeer(prefix + op[1]); ok(); return;
      case "enable-peer": admin.enableReplicationPeer(prefix + op[1]); ok(); return;
      case "disable-peer": admin.disableReplicationPeer(prefix + op[1]); ok(); return;
      case "peers": Rights.peers(admin, prefix).forEach(line -> say("%s", line)); return;
      case "normalizer":
        say("was %s, is %s", admin.normalizerSwitch(op[2].equals("on")), admin.isNormalizerEnabled());
        return;
      case "normalize": say("%s", Rights.normalize(admin, table)); return;
      case "slow-log": Rights.slowLog(admin, table); ok(); return;
      case "exists": say("%s", admin.tableExists(table)); return;
      case "tables": tables(op); return;
      case "describe": describe(table, op); return;
      case "regions": regions(table); return;
      default: break;
    }
    try (Table t = connection.getTable(table)) {
      switch (op[0]) {
        case "put": t.put(Mutations.put(op[2], op, 3)); ok(); return;
        case "delete": t.delete(Mutations.delete(op[2], op, 3)); ok(); return;
        case "mutate": t.mutateRow(Mutations.ofRow(more)); ok(); return;
        case "check": say("%s", t.checkAndMutate(Mutations.check(op, more)).isSuccess()); return;
        case "increment": timeless(t.increment(Mutations.increment(op))); return;
        case "append": timeless(t.append(Mutations.append(op))); return;
        case "values": timeless(t.get(get(op, 2))); return;
        case "load": load(t, op, more); return;
        case "batch": batch(t, more); return;
        case "get": cells(t.get(get(op, 2)), ""); return;
        case "gets": gets(t, more); return;
        case "scan": scan(t, op, more); return;
        case "count": count(t); return;
        case "digest": say("%s", RowDigest.digest(t)); return;
        default: throw new IllegalArgumentException("no such operation: " + op[0]);
      }
    }
  }

  private void create(TableName table, String[] op) throws IOException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    byte[][] splits = null;
    for (String word : Arrays.asList(op).subList(2, op.length)) {
      if (word.startsWith("splits=")) {
        splits = Arrays.stream(word.substring(7).split(",")).map(Text::bytes).toArray(byte[][]::new);
        continue;
      }
      String[] parts = word.split(";");
      ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(Text.bytes(parts[0]));
      for (String attribute : Arrays.asList(parts).subList(1, parts.length)) {
        String[] pair = attribute.split("=", 2);
        family.setValue(pair[0], pair[1]);
      }
      builder.setColumnFamily(family.build());
    }
    if (splits == null) { // HBase 3's client takes no null
      admin.createTable(builder.build());
    } else {
      admin.createTable(builder.build(), splits);
    }
    ok();
  }

  /** tables lists names; an expression is the server's to match, and an empty one stays empty. */
  private void tables(String[] op) throws IOException {
    TreeSet<String> names = new TreeSet<>();
    List<TableName> found;
    if (op.length > 1) {
      String expression = op[1].split("=", 2)[1];
      Pattern pattern = Pattern.compile(expression.isEmpty() ? "" : Pattern.quote(prefix) + expression);
      found = List.of(admin.listTableNames(pattern));
      Set<TableName> described = new HashSet<>();
      admin.listTableDescriptors(pattern).forEach(d -> described.add(d.getTableName()));
      if (!described.equals(Set.copyOf(found))) {
        throw new IllegalStateException("names " + found + ", descriptors " + described);
      }
    } else {
      found = List.of(admin.listTableNames());
    }
    for (TableName name : found) {
      if (name.getNameAsString().startsWith(prefix)) {
        names.add(name.getNameAsString());
      }
    }
    names.forEach(n -> say("%s", n));
    say("%d tables", names.size());
  }

  private void describe(TableName table, String[] op) throws IOException {
    TableDescriptor descriptor = admin.getDescriptor(table);
    ColumnFamilyDescriptor family = descriptor.getColumnFamily(Text.bytes(op[2]));
    StringBuilder out = new StringBuilder(op[2]);
    for (String key : Arrays.asList(op).subList(3, op.length)) {
      out.append(' ').append(key).append('=').append(Bytes.toString(family.getValue(Bytes.toBytes(key))));
    }
    say("%s", out);
    say("%d families", descriptor.getColumnFamilyCount());
  }

  private void regions(TableName table) throws Exception {
    List<RegionInfo> regions = admin.getRegions(table);
    regions.sort(RegionInfo.COMPARATOR);
    for (RegionInfo r : regions) {
      say("[%s, %s)", Text.word(r.getStartKey()), Text.word(r.getEndKey()));
    }
    say("%d regions", regions.size());
  }

  private void batch(Table t, List<String[]> more) throws Exception {
    List<Row> actions = new ArrayList<>();
    for (String[] line : more) {
      actions.add(Mutations.of(line));
    }
    for (Object result : results(t, actions)) {
      say("%d %s", answer.size(), result instanceof Throwable ? "error " + name((Throwable) result) : "ok");
    }
  }

  /** The results of a batch, which may be exceptions. */
  static Object[] results(Table t, List<Row> actions) throws Exception {
    Object[] results = new Object[actions.size()];
    try {
      t.batch(actions, results);
    } catch (RetriesExhaustedWithDetailsException e) {
      // each has its own result
    }
    return results;
  }

  /** load writes and reads rows in batches, one after the other, while the operations of the further lines are done. */
  private void load(Table t, String[] op, List<String[]> more) throws Exception {
    Load load = new Load(t, Arrays.copyOfRange(op, 2, op.length));
    ExecutorService side = Executors.newSingleThreadExecutor();
    try {
      Future<List<String>> rounds = side.submit(load);
      try {
        if (load.begun()) {
          for (String[] words : more) {
            inner(words);
          }
        }
      } finally {
        load.end();
      }
      answer.addAll(rounds.get());
    } finally {
      side.shutdown();
    }
  }

  /** inner runs an operation within another one. */
  private void inner(String[] words) throws Exception {
    Conform inner = new Conform(connection, prefix);
    inner.run(words, List.of());
    inner.answer.forEach(a -> say("%s: %s", words[0], a));
  }

  private void gets(Table t, List<String[]> more) throws Exception {
    List<Get> gets = new ArrayList<>();
    for (String[] line : more) {
      gets.add(get(line, 0));
    }
    Result[] results = t.get(gets);
    for (int i = 0; i < results.length; i++) {
      cells(results[i], i + " ");
    }
  }

  private static Get get(String[] words, int row) throws IOException {
    Get get = new Get(Text.bytes(words[row]));
    for (String word : Arrays.asList(words).subList(row + 1, words.length)) {
      String[] option = word.split("=", 2);
      switch (option[0]) {
        case "columns":
          for (String[] c : columns(option[1])) {
            if (c[1].isEmpty()) {
              get.addFamily(Text.bytes(c[0]));
            } else {
              get.addColumn(Text.bytes(c[0]), Text.bytes(c[1]));
            }
          }
          break;
        case "versions": get.readVersions(Integer.parseInt(option[1])); break;
        case "times": get.setTimeRange(Text.time(range(option[1])[0]), Text.time(range(option[1])[1])); break;
        default: throw new IllegalArgumentException("no such option: " + word);
      }
    }
    return get;
  }

  /** scan reads a range; a further line "N OPERATION…" is done behind N rows, while the scanner is open. */
  private void scan(Table t, String[] op, List<String[]> more) throws Exception {
    Scan scan = new Scan();
    for (String word : Arrays.asList(op).subList(2, op.length)) {
      String[] option = word.split("=", 2);
      switch (option[0]) {
        case "start": scan.withStartRow(Text.bytes(option[1])); break;
        case "stop": scan.withStopRow(Text.bytes(option[1])); break;
        case "reverse": scan.setReversed(true); break;
        case "limit": scan.setLimit(Integer.parseInt(option[1])); break;
        case "caching": scan.setCaching(Integer.parseInt(option[1])); break;
        case "bytes": scan.setMaxResultSize(Long.parseLong(option[1])); break;
        case "raw": scan.setRaw(true); break;
        case "prefix": scan.setFilter(new PrefixFilter(Text.bytes(option[1]))); break;
        case "until": scan.setFilter(new InclusiveStopFilter(Text.bytes(option[1]))); break;
        case "metrics": scan.setScanMetricsEnabled(true); break;
        case "versions": scan.readVersions(Integer.parseInt(option[1])); break;
        case "times": scan.setTimeRange(Text.time(range(option[1])[0]), Text.time(range(option[1])[1])); break;
        case "columns":
          for (String[] c : columns(option[1])) {
            if (c[1].isEmpty()) {
              scan.addFamily(Text.bytes(c[0]));
            } else {
              scan.addColumn(Text.bytes(c[0]), Text.bytes(c[1]));
            }
          }
          break;
        default: throw new IllegalArgumentException("no such option: " + word);
      }
    }
    int rows = 0;
    try (ResultScanner scanner = t.getScanner(scan)) {
      for (Result row : scanner) {
        rows++;
        cells(row, "");
        while (!more.isEmpty() && more.get(0)[0].equals(String.valueOf(rows))) {
          inner(Arrays.copyOfRange(more.get(0), 1, more.get(0).length));
          more = more.subList(1, more.size());
        }
      }
      say("%d rows", rows);
      if (scan.isScanMetricsEnabled()) {
        ScanMetrics m = scanner.getScanMetrics();
        say("%d scanned, %d filtered", m.countOfRowsScanned.get(), m.countOfRowsFiltered.get());
      }
    }
  }

  private void count(Table t) throws IOException {
    int rows = 0;
    try (ResultScanner scanner = t.getScanner(new Scan())) {
      for (Result ignored : scanner) {
        rows++;
      }
    }
    say("%d rows", rows);
  }

  private void cells(Result result, String head) throws Exception {
    if (result.isEmpty()) {
      say("%snone", head);
      return;
    }
    for (Cell c : result.rawCells()) {
      say("%s%s", head, Text.cell(c));
    }
  }

  private void timeless(Result result) throws Exception {
    if (result.isEmpty()) {
      say("none");
      return;
    }
    for (Cell c : result.rawCells()) {
      say("%s %s:%s=%s", Text.word(CellUtil.cloneRow(c)), Text.word(CellUtil.cloneFamily(c)), Text.word(CellUtil.cloneQualifier(c)),
          Text.word(CellUtil.cloneValue(c)));
    }
  }

  /** "e:q,f:" as pairs of family and qualifier. */
  private static List<String[]> columns(String words) {
    List<String[]> out = new ArrayList<>();
    for (String word : words.split(",")) {
      String[] c = word.split(":", 2);
      out.add(new String[] {c[0], c.length < 2 ? "" : c[1]});
    }
    return out;
  }

  private static String[] range(String word) {
    return word.split(",", 2);
  }

  /** The exception's class without its package; of a failed batch, that of its one cause. */
  private static String name(Throwable e) {
    if (e instanceof UncheckedIOException) { // from a scanner's iterator
      return name(e.getCause());
    }
    if (e instanceof ExecutionException) { // from a procedure that was waited for
      return name(e.getCause());
    }
    if (e instanceof RetriesExhaustedWithDetailsException) {
      return name(((RetriesExhaustedWithDetailsException) e).getCause(0));
    }
    return e.getClass().getSimpleName();
  }

  /** What a reader of a failed run wants to know, on standard error. */
  private static void explain(Path script, int line, Exception e) {
    Throwable last = e; // what was tried again says nothing else of why
    while (last.getCause() != null) {
      last = last.getCause();
    }
    System.err.println(script.getFileName() + ":" + (line + 1) + ": " + e.toString().split("\n")[0]
        + (last == e ? "" : " (" + last.toString().split("\n")[0] + ")"));
  }

  private void ok() {
    say("ok");
  }

  private void say(String format, Object... args) {
    answer.add(String.format(format, args));
  }
}
