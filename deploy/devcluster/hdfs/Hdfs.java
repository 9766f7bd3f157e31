import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * HDFS in one process: a name node, formatted when its folder is empty, and a data node.
 *
 * <p>Usage: Hdfs FOLDER, where FOLDER is dfs.namenode.name.dir. Prints "HDFS is up" when files can be written.
 */
public final class Hdfs {
  private Hdfs() {}

  public static void main(String[] args) throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true); // else the second node finds the first one's metrics in its way
    Configuration conf = new HdfsConfiguration();
    if (!new File(args[0], "current").exists()) {
      NameNode.format(conf);
    }
    NameNode name = new NameNode(conf);
    DataNode data = DataNode.instantiateDataNode(new String[0], conf);
    data.runDatanodeDaemon();
    while (!data.isDatanodeFullyStarted() || name.isInSafeMode()) {
      Thread.sleep(50);
    }
    System.out.println("HDFS is up");
    name.join();
  }
}
