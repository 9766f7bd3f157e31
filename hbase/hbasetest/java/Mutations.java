import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RowMutations;

/** Reads the changes of rows that scripts name. */
final class Mutations {
  /** How what is stored compares to what is given; the client's operators have the sides the other way round. */
  private static final Map<String, CompareOperator> OPS = Map.of(
      "less", CompareOperator.GREATER, "at-most", CompareOperator.GREATER_OR_EQUAL, "is", CompareOperator.EQUAL,
      "is-not", CompareOperator.NOT_EQUAL, "at-least", CompareOperator.LESS_OR_EQUAL, "greater", CompareOperator.LESS);

  private Mutations() {}

  /** "put ROW CELL…" or "delete ROW MARKER…". */
  static Mutation of(String[] line) {
    return line[0].equals("put") ? put(line[1], line, 2) : delete(line[1], line, 2);
  }

  static Put put(String row, String[] words, int from) {
    Put put = new Put(Text.bytes(row));
    for (String word : Arrays.asList(words).subList(from, words.length)) {
      Text.CellWord c = new Text.CellWord(word);
      put.addColumn(c.family, c.qualifier, c.time, c.value);
    }
    return put;
  }

  static Delete delete(String row, String[] words, int from) {
    Delete delete = new Delete(Text.bytes(row));
    for (String word : Arrays.asList(words).subList(from, words.length)) {
      Text.CellWord c = new Text.CellWord(word);
      switch (c.kind) {
        case "version": delete.addColumn(c.family, c.qualifier, c.time); break;
        case "column": delete.addColumns(c.family, c.qualifier, c.time); break;
        case "family": delete.addFamily(c.family, c.time); break;
        case "family-version": delete.addFamilyVersion(c.family, c.time); break;
        default: throw new IllegalArgumentException("no such kind of delete: " + word);
      }
    }
    return delete;
  }

  /** Lines of one row, to be applied as one. */
  static RowMutations ofRow(List<String[]> lines) throws Exception {
    RowMutations all = new RowMutations(Text.bytes(lines.get(0)[1]), lines.size());
    for (String[] line : lines) {
      all.add(of(line));
    }
    return all;
  }

  /** "check TABLE ROW COLUMN OP [VALUE]" and the mutations. */
  static CheckAndMutate check(String[] op, List<String[]> lines) throws Exception {
    byte[][] column = Text.column(op[3]);
    CheckAndMutate.Builder check = CheckAndMutate.newBuilder(Text.bytes(op[2]));
    if (op[4].equals("absent")) {
      check.ifNotExists(column[0], column[1]);
    } else {
      check.ifMatches(column[0], column[1], OPS.get(op[4]), Text.bytes(op[5]));
    }
    return check.build(ofRow(lines));
  }

  /** "increment TABLE ROW COLUMN=N…". */
  static Increment increment(String[] op) {
    Increment increment = new Increment(Text.bytes(op[2]));
    for (String word : Arrays.asList(op).subList(3, op.length)) {
      String[] pair = word.split("=", 2);
      byte[][] column = Text.column(pair[0]);
      increment.addColumn(column[0], column[1], Long.parseLong(pair[1]));
    }
    return increment;
  }

  /** "append TABLE ROW COLUMN=VALUE…". */
  static Append append(String[] op) {
    Append append = new Append(Text.bytes(op[2]));
    for (String word : Arrays.asList(op).subList(3, op.length)) {
      String[] pair = word.split("=", 2);
      byte[][] column = Text.column(pair[0]);
      append.addColumn(column[0], column[1], Text.bytes(pair[1]));
    }
    return append;
  }
}
