import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/**
 * Reads the rows that begin with a prefix, one prefix after the other, with HBase's own Table, one per thread, and prints how many it has
 * read for a while. The first fifth of that time does not count.
 *
 * <p>Usage: Timelines rpc://host:port table prefixesFile most threads milliseconds
 */
public final class Timelines {
  private Timelines() {}

  public static void main(String[] args) throws Exception {
    TableName table = TableName.valueOf(args[1]);
    List<String> prefixes = Files.readAllLines(Path.of(args[2]));
    int most = Integer.parseInt(args[3]);
    Thread[] workers = new Thread[Integer.parseInt(args[4])];
    Throwable[] failures = new Throwable[workers.length];
    AtomicLong read = new AtomicLong();
    long begin = System.nanoTime() + Long.parseLong(args[5]) * 200_000;
    long end = begin + Long.parseLong(args[5]) * 800_000;
    try (Connection connection = Bench.connect(args[0])) {
      connection.getRegionLocator(table).getAllRegionLocations();
      for (int i = 0; i < workers.length; i++) {
        int thread = i;
        workers[i] = new Thread(() -> {
          Random random = new Random(thread);
          try (Table t = connection.getTable(table)) {
            while (System.nanoTime() < end) {
              read(t, prefixes.get(random.nextInt(prefixes.size())), most);
              long now = System.nanoTime();
              if (now >= begin && now < end) {
                read.incrementAndGet();
              }
            }
          } catch (Exception e) {
            failures[thread] = e;
          }
        });
        workers[i].start();
      }
      for (int i = 0; i < workers.length; i++) {
        workers[i].join();
        if (failures[i] != null) {
          throw new Exception("a thread failed", failures[i]);
        }
      }
    }
    System.out.printf("%.1f%n", read.get() / ((end - begin) / 1e9));
    System.exit(0); // the client's threads linger
  }

  private static void read(Table t, String prefix, int most) throws Exception {
    Scan scan = new Scan().setStartStopRowForPrefixScan(prefix.getBytes(StandardCharsets.UTF_8));
    scan.setReadType(Scan.ReadType.PREAD).setCaching(most).setLimit(most);
    int rows = 0;
    try (ResultScanner scanner = t.getScanner(scan)) {
      for (Result row : scanner) {
        rows += row.isEmpty() ? 0 : 1;
      }
    }
    if (rows == 0) {
      throw new IllegalStateException("nothing begins with " + prefix);
    }
  }
}
