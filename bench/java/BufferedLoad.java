import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;

/**
 * Writes rows with HBase's own BufferedMutator, one per thread, and tells how long that took and what it cost. The rows are
 * those of ../load/client: the same keys, sizes and timestamps.
 *
 * <p>Usage: BufferedLoad rpc://host:port table rows columns keyBytes valueBytes threads bufferBytes
 */
public final class BufferedLoad {
  private static final byte[] FAMILY = {'e'};
  private static final byte[] HEX = "0123456789abcdef".getBytes();
  private static final int NOISE = 1 << 16;

  private final byte[] noise = new byte[2 * NOISE];
  private final int columns;
  private final int keyBytes;
  private final int valueBytes;

  private BufferedLoad(int columns, int keyBytes, int valueBytes) {
    this.columns = columns;
    this.keyBytes = keyBytes;
    this.valueBytes = valueBytes;
    new Random(1).nextBytes(noise);
  }

  public static void main(String[] args) throws Exception {
    TableName table = TableName.valueOf(args[1]);
    int[] n = Arrays.stream(args, 2, args.length).mapToInt(Integer::parseInt).toArray();
    BufferedLoad load = new BufferedLoad(n[1], n[2], n[3]);
    try (Connection connection = connect(args[0])) {
      connection.getRegionLocator(table).getAllRegionLocations();
      load.run(connection, table, n[0], n[4], n[5]);
    }
    System.exit(0); // the client's threads linger
  }

  private static Connection connect(String address) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.client.bootstrap.servers", address.replaceFirst("^rpc://", ""));
    return ConnectionFactory.createConnection(conf);
  }

  private void run(Connection connection, TableName table, int rows, int threads, int buffer) throws Exception {
    Thread[] workers = new Thread[threads];
    Throwable[] failures = new Throwable[threads];
    System.out.println("begin");
    long start = System.nanoTime();
    long cpu = cpuNanos();
    for (int t = 0; t < threads; t++) {
      int worker = t;
      int from = (int) ((long) rows * t / threads);
      int to = (int) ((long) rows * (t + 1) / threads);
      workers[t] = new Thread(() -> write(connection, new BufferedMutatorParams(table).writeBufferSize(buffer), from, to));
      workers[t].setUncaughtExceptionHandler((thread, e) -> failures[worker] = e);
      workers[t].start();
    }
    for (int t = 0; t < threads; t++) {
      workers[t].join();
      if (failures[t] != null) {
        throw new Exception("a thread failed", failures[t]);
      }
    }
    double cpuSeconds = (cpuNanos() - cpu) / 1e9;
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf("{\"seconds\":%.4f,\"cpu_s\":%.4f,\"peak_mib\":%.1f}%n", seconds, cpuSeconds, peakMiB());
  }

  private void write(Connection connection, BufferedMutatorParams params, int from, int to) {
    try (BufferedMutator mutator = connection.getBufferedMutator(params)) {
      for (int i = from; i < to; i++) {
        mutator.mutate(row(i));
      }
      mutator.flush();
    } catch (Exception e) {
      throw new RuntimeException(e);
    }
  }

  private Put row(int i) {
    byte[] key = new byte[keyBytes];
    int salt = (i * 0x9E3779B1) >>> 24;
    key[0] = HEX[salt >>> 4];
    key[1] = HEX[salt & 15];
    int digits = i;
    for (int at = keyBytes - 1; at > 1; at--) {
      key[at] = (byte) ('0' + digits % 10);
      digits /= 10;
    }
    Put put = new Put(key);
    int at = (i * 61) & (NOISE - 1);
    for (int c = 0; c < columns; c++) {
      int from = at + valueBytes * c / columns;
      int to = at + valueBytes * (c + 1) / columns;
      put.addColumn(FAMILY, new byte[] {(byte) ('a' + c)}, 1_700_000_000_000L + i, Arrays.copyOfRange(noise, from, to));
    }
    return put;
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  private static double peakMiB() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024.0;
      }
    }
    throw new IllegalStateException("no VmHWM");
  }
}
