import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/**
 * Reads the rows of BufferedLoad with HBase's own Table, one per thread, and tells how long that took and what it cost. It reads what
 * ../read/client reads.
 *
 * <p>Usage: Reads rpc://host:port table get|scan rows columns keyBytes threads count
 */
public final class Reads {

  private final TableName table;
  private final int rows;
  private final int columns;
  private final int keyBytes;
  private final int threads;

  private Reads(TableName table, int[] n) {
    this.table = table;
    this.rows = n[0];
    this.columns = n[1];
    this.keyBytes = n[2];
    this.threads = n[3];
  }

  /** A thread's work. */
  private interface Work {
    void run(Table table, int thread) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    int[] n = Arrays.stream(args, 3, args.length).mapToInt(Integer::parseInt).toArray();
    Reads reads = new Reads(TableName.valueOf(args[1]), n);
    try (Connection connection = Bench.connect(args[0])) {
      connection.getRegionLocator(reads.table).getAllRegionLocations();
      if (args[2].equals("get")) {
        reads.gets(connection, n[4]);
      } else {
        reads.scans(connection);
      }
    }
    System.exit(0); // the client's threads linger
  }

  private void gets(Connection connection, int count) throws Exception {
    each(connection, (t, thread) -> getSome(t, new Random(100 + thread), new long[count / threads / 10]));
    long[][] nanos = new long[threads][count / threads];
    measured(connection, (t, thread) -> getSome(t, new Random(thread), nanos[thread]), nanos);
  }

  private void getSome(Table t, Random random, long[] nanos) throws Exception {
    for (int i = 0; i < nanos.length; i++) {
      byte[] key = Bench.key(random.nextInt(rows), keyBytes);
      long start = System.nanoTime();
      Result row = t.get(new Get(key));
      nanos[i] = System.nanoTime() - start;
      if (row.size() != columns) {
        throw new IllegalStateException("a row has " + row.size() + " columns, not " + columns);
      }
    }
  }

  private void scans(Connection connection) throws Exception {
    AtomicLong seen = new AtomicLong();
    each(connection, (t, thread) -> scan(t, 64 * thread, 64 * thread + 4));
    measured(connection, (t, thread) -> seen.addAndGet(scan(t, 256 * thread / threads, 256 * (thread + 1) / threads)), new long[0][]);
    if (seen.get() != rows) {
      throw new IllegalStateException("the scans found " + seen + " rows, not " + rows);
    }
  }

  private long scan(Table t, int from, int to) throws Exception {
    Scan scan = new Scan().withStartRow(prefix(from));
    if (to < 256) {
      scan.withStopRow(prefix(to));
    }
    long n = 0;
    try (ResultScanner scanner = t.getScanner(scan)) {
      for (Result row : scanner) {
        if (row.size() != columns) {
          throw new IllegalStateException("a row has " + row.size() + " columns, not " + columns);
        }
        n++;
      }
    }
    return n;
  }

  private static byte[] prefix(int salt) {
    return new byte[] {Bench.HEX[salt >>> 4], Bench.HEX[salt & 15]};
  }

  private void measured(Connection connection, Work work, long[][] nanos) throws Exception {
    System.out.println("begin");
    long start = System.nanoTime();
    long cpu = Bench.cpuNanos();
    each(connection, work);
    double cpuSeconds = (Bench.cpuNanos() - cpu) / 1e9;
    double seconds = (System.nanoTime() - start) / 1e9;
    long[] all = Arrays.stream(nanos).flatMapToLong(Arrays::stream).sorted().toArray();
    double p99 = all.length == 0 ? 0 : all[Math.max(0, (int) Math.ceil(0.99 * all.length) - 1)] / 1e6;
    System.out.printf("{\"seconds\":%.4f,\"cpu_s\":%.4f,\"peak_mib\":%.1f,\"p99_ms\":%.4f}%n", seconds, cpuSeconds, Bench.peakMiB(), p99);
  }

  /** each lets every thread do its work, and waits for all. */
  private void each(Connection connection, Work work) throws Exception {
    Thread[] workers = new Thread[threads];
    Throwable[] failures = new Throwable[threads];
    for (int i = 0; i < threads; i++) {
      int thread = i;
      workers[i] = new Thread(() -> {
        try (Table t = connection.getTable(table)) {
          work.run(t, thread);
        } catch (Exception e) {
          failures[thread] = e;
        }
      });
      workers[i].start();
    }
    for (int i = 0; i < threads; i++) {
      workers[i].join();
      if (failures[i] != null) {
        throw new Exception("a thread failed", failures[i]);
      }
    }
  }
}
