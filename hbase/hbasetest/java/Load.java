import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;

/**
 * Writes and reads rows in batches, one after the other, until end is called, and then once more at a version of its own, so that
 * what it leaves does not tell how many rounds there were. goload.go is the same for our client.
 */
final class Load implements Callable<List<String>> {
  private static final int LAST_ROUND = 1_000_000;

  private final Table table;
  private final String[] rows;
  private final List<String> wrong = new ArrayList<>();
  private final CountDownLatch first = new CountDownLatch(1);
  private volatile boolean begun;
  private volatile boolean ending;

  Load(Table table, String[] rows) {
    this.table = table;
    this.rows = rows;
  }

  /** begun returns after the first round, and tells whether there was one. */
  boolean begun() throws InterruptedException {
    first.await();
    return begun;
  }

  void end() {
    ending = true;
  }

  @Override
  public List<String> call() throws Exception {
    try {
      boolean last = false;
      for (int round = 1; !last && wrong.isEmpty(); round++) {
        last = ending;
        round(last ? LAST_ROUND : round);
        begun = true;
        first.countDown();
      }
    } finally {
      first.countDown();
    }
    wrong.add(wrong.isEmpty() ? rows.length + " rows" : "error not as it was written");
    return wrong;
  }

  private void round(int round) throws Exception {
    List<String> words = new ArrayList<>();
    List<Row> mutations = new ArrayList<>();
    List<Get> gets = new ArrayList<>();
    for (String row : rows) {
      words.add("put " + row + " e:q@" + round + "=" + round + " e:p@1=" + round);
      words.add("delete " + row + " e:q@" + (round - 1) + "/column");
      gets.add(new Get(Text.bytes(row)).readVersions(10));
    }
    for (String line : words) {
      mutations.add(Mutations.of(line.split(" ")));
    }
    Object[] results = Conform.results(table, mutations);
    for (int i = 0; i < results.length; i++) {
      if (!(results[i] instanceof Result)) {
        wrong.add(words.get(i) + ": " + results[i]);
      }
    }
    Result[] read = table.get(gets);
    for (int i = 0; i < read.length; i++) {
      String want = rows[i] + " e:p@1=" + round + ", " + rows[i] + " e:q@" + round + "=" + round;
      List<String> cells = new ArrayList<>();
      for (Cell c : read[i].isEmpty() ? new Cell[0] : read[i].rawCells()) {
        cells.add(Text.cell(c));
      }
      if (!String.join(", ", cells).equals(want)) {
        wrong.add("wrong: " + String.join(", ", cells) + ", wanted " + want);
      }
    }
  }
}
