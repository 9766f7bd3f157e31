import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;

/**
 * Writes rows with HBase's own BufferedMutator, one per thread, and tells how long that took and what it cost. The rows are
 * those of ../load/client: the same keys, sizes and timestamps.
 *
 * <p>Usage: BufferedLoad rpc://host:port table rows columns keyBytes valueBytes threads bufferBytes
 */
public final class BufferedLoad {
  private static final byte[] FAMILY = {'e'};
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
    try (Connection connection = Bench.connect(args[0])) {
      connection.getRegionLocator(table).getAllRegionLocations();
      load.run(connection, table, n[0], n[4], n[5]);
    }
    System.exit(0); // the client's threads linger
  }

  private void run(Connection connection, TableName table, int rows, int threads, int buffer) throws Exception {
    Thread[] workers = new Thread[threads];
    Throwable[] failures = new Throwable[threads];
    System.out.println("begin");
    long start = System.nanoTime();
    long cpu = Bench.cpuNanos();
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
    double cpuSeconds = (Bench.cpuNanos() - cpu) / 1e9;
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf("{\"seconds\":%.4f,\"cpu_s\":%.4f,\"peak_mib\":%.1f}%n", seconds, cpuSeconds, Bench.peakMiB());
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
    Put put = new Put(Bench.key(i, keyBytes));
    int at = (i * 61) & (NOISE - 1);
    for (int c = 0; c < columns; c++) {
      int from = at + valueBytes * c / columns;
      int to = at + valueBytes * (c + 1) / columns;
      put.addColumn(FAMILY, new byte[] {(byte) ('a' + c)}, 1_700_000_000_000L + i, Arrays.copyOfRange(noise, from, to));
    }
    return put;
  }
}
