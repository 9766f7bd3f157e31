import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.NormalizeTableFilterParams;
import org.apache.hadoop.hbase.client.ServerType;
import org.apache.hadoop.hbase.quotas.QuotaFilter;
import org.apache.hadoop.hbase.quotas.QuotaSettings;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.SpaceViolationPolicy;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfig;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfigBuilder;
import org.apache.hadoop.hbase.replication.ReplicationPeerDescription;
import org.apache.hadoop.hbase.security.access.GetUserPermissionsRequest;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.TablePermission;
import org.apache.hadoop.hbase.security.access.UserPermission;
import org.apache.hadoop.hbase.util.Bytes;

/** The operations of Conform with permissions, quotas, replication peers, the normalizer and the slow log. */
final class Rights {
  private Rights() {}

  /** USER ACTIONS [COLUMN] of a table. */
  private static UserPermission permission(TableName table, String[] op) {
    List<Permission.Action> actions = new ArrayList<>();
    for (char letter : op[3].replace("-", "").toCharArray()) {
      actions.add(Permission.Action.values()["RWXCA".indexOf(letter)]);
    }
    byte[] family = null;
    byte[] qualifier = null;
    if (op.length > 4 && !op[4].equals("merge")) {
      String[] column = op[4].split(":", 2);
      family = Bytes.toBytes(column[0]);
      qualifier = column.length > 1 && !column[1].isEmpty() ? Bytes.toBytes(column[1]) : null;
    }
    return new UserPermission(op[2], Permission.newBuilder(table).withFamily(family).withQualifier(qualifier)
        .withActions(actions.toArray(new Permission.Action[0])).build());
  }

  static void grant(Admin admin, TableName table, String[] op) throws IOException {
    admin.grant(permission(table, op), op[op.length - 1].equals("merge"));
  }

  static void revoke(Admin admin, TableName table, String[] op) throws IOException {
    admin.revoke(permission(table, op));
  }

  static List<String> permissions(Admin admin, TableName table) throws IOException {
    List<String> out = new ArrayList<>();
    for (UserPermission p : admin.getUserPermissions(GetUserPermissionsRequest.newBuilder(table).build())) {
      if (!p.getUser().startsWith("user")) {
        continue; // who made the table
      }
      TablePermission of = (TablePermission) p.getPermission();
      String actions = EnumSet.copyOf(List.of(of.getActions())).stream().map(a -> a.name().equals("EXEC") ? "X" : a.name().substring(0, 1))
          .collect(Collectors.joining());
      out.add(p.getUser() + " " + word(of.getFamily()) + ":" + word(of.getQualifier()) + " " + actions);
    }
    Collections.sort(out);
    out.add(out.size() + " permissions");
    return out;
  }

  private static String word(byte[] b) {
    return b == null ? "" : Bytes.toString(b);
  }

  /** [USER] KIND LIMIT UNIT of a table. */
  static void throttle(Admin admin, TableName table, String[] op) throws IOException {
    int at = op.length - 3;
    String user = at > 2 ? op[2] : null;
    ThrottleType kind = ThrottleType.valueOf(op[at]);
    long limit = Long.parseLong(op[at + 1]);
    TimeUnit unit = TimeUnit.valueOf(op[at + 2].toUpperCase() + "S");
    QuotaSettings settings;
    if (user == null) {
      settings = limit == 0 ? QuotaSettingsFactory.unthrottleTableByThrottleType(table, kind)
          : QuotaSettingsFactory.throttleTable(table, kind, limit, unit);
    } else {
      settings = limit == 0 ? QuotaSettingsFactory.unthrottleUserByThrottleType(user, table, kind)
          : QuotaSettingsFactory.throttleUser(user, table, kind, limit, unit);
    }
    admin.setQuota(settings);
  }

  static void space(Admin admin, TableName table, String[] op) throws IOException {
    long bytes = Long.parseLong(op[2]);
    admin.setQuota(bytes == 0 ? QuotaSettingsFactory.removeTableSpaceLimit(table)
        : QuotaSettingsFactory.limitTableSpace(table, bytes, SpaceViolationPolicy.valueOf(op[3])));
  }

  static List<String> quotas(Connection connection, TableName table) throws IOException {
    List<String> out = new ArrayList<>();
    for (QuotaSettings q : connection.getAdmin().getQuota(new QuotaFilter())) {
      if (table.equals(q.getTableName())) {
        out.add(Quotas.line(q));
      }
    }
    Collections.sort(out);
    out.add(out.size() + " quotas");
    return out;
  }

  static void addPeer(Admin admin, String prefix, String[] op) throws IOException {
    ReplicationPeerConfigBuilder peer = ReplicationPeerConfig.newBuilder().setClusterKey("127.0.0.1:1:/none")
        .setReplicationEndpointImpl("org.apache.hadoop.hbase.replication.regionserver.RegionReplicaReplicationEndpoint");
    boolean enabled = true;
    for (int i = 2; i < op.length; i++) {
      String[] option = op[i].split("=", 2);
      switch (option[0]) {
        case "disabled": enabled = false; break;
        case "serial": peer.setSerial(true); break;
        case "bandwidth": peer.setBandwidth(Long.parseLong(option[1])); break;
        case "tables":
          Map<TableName, List<String>> tables = new HashMap<>();
          for (String table : option[1].split(",")) {
            tables.put(TableName.valueOf(prefix + table), null);
          }
          peer.setReplicateAllUserTables(false).setTableCFsMap(tables);
          break;
        default: throw new IllegalArgumentException(op[i]);
      }
    }
    admin.addReplicationPeer(prefix + op[1], peer.build(), enabled);
  }

  static List<String> peers(Admin admin, String prefix) throws IOException {
    List<String> out = new ArrayList<>();
    for (ReplicationPeerDescription p : admin.listReplicationPeers()) {
      if (!p.getPeerId().startsWith(prefix)) {
        continue;
      }
      ReplicationPeerConfig config = p.getPeerConfig();
      String tables = config.getTableCFsMap() == null ? "" : config.getTableCFsMap().keySet().stream().map(TableName::getNameAsString)
          .sorted().collect(Collectors.joining(","));
      out.add(p.getPeerId() + (p.isEnabled() ? "" : " disabled") + (config.isSerial() ? " serial" : "") + " bandwidth="
          + config.getBandwidth() + " tables=" + tables);
    }
    Collections.sort(out);
    out.add(out.size() + " peers");
    return out;
  }

  static boolean normalize(Admin admin, TableName table) throws IOException {
    return admin.normalize(new NormalizeTableFilterParams.Builder().tableNames(List.of(table)).build());
  }

  static void slowLog(Admin admin, TableName table) throws IOException {
    List<ServerName> servers = new ArrayList<>(admin.getRegionServers());
    admin.getLogEntries(new java.util.HashSet<>(servers), "SLOW_LOG", ServerType.REGION_SERVER, 10,
        Map.of("tableName", table.getNameAsString()));
  }
}
