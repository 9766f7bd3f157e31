import { Fault, ask, withQuery } from "../lib/api";
import { csv, download } from "../lib/csv";
import { List } from "../lib/list";
import { usePlace } from "../lib/router";
import { numberText, t } from "../lib/store";
import { Failure, useAnswer, useTitle } from "../lib/ui";
import { Chart } from "./sqlshown";

interface Stored {
  name: string; pipelines: string[]; regions: number; servers: number; mb: number; detail?: string;
  families: { name: string; settings: Record<string, string> }[]; settings: Record<string, string>;
}
interface Region { name: string; server: string; files_mb: number; memstore_mb: number; files: number; reads: number; writes: number; locality: number }

const path = "/api/v1/ops/tables";

/** The tables as the cluster has them. */
export function Tables() {
  useTitle(t("tables"));
  const { query } = usePlace();
  const { answer, err, again } = useAnswer((signal) => ask<{ tables: Stored[] }>(path, { signal }), []);
  const table = answer?.tables.find((one) => one.name === query.get("table"));
  return <>
    <div class="bar"><h1>{t("tables")}</h1><button type="button" onClick={again}>{t("refresh")}</button></div>
    {err instanceof Fault && err.status === 404 ? <p>{t("noRegions")}</p> : err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer && <List label={t("tables")} file="tables.csv" rows={answer.tables} empty={t("tablesNone")} columns={[
      { name: "table", label: t("regionsTable"), of: (one) => one.name, show: (one) =>
        <a href={withQuery("/tables", [["table", one.name]])} aria-current={one === table ? "true" : undefined}>{one.name}</a> },
      { name: "pipelines", label: t("writtenBy"), of: (one) => one.pipelines.join(", ") },
      { name: "families", label: t("families"), of: (one) => one.families.map((f) => f.name).join(", "), show: (one) =>
        one.detail ? <span class="cause">{one.detail}</span> : one.families.map((f) => f.name).join(", ") },
      { name: "regions", label: t("regions"), of: (one) => one.regions },
      { name: "servers", label: t("servers"), of: (one) => one.servers },
      { name: "mb", label: t("size"), of: (one) => one.mb },
    ]} />}
    {table && <OneTable key={table.name} of={table} />}
  </>;
}

/** How large a table was over the last week, where that is kept. */
function Growth({ table }: { table: string }) {
  const { answer } = useAnswer((signal) => ask<{ sizes: { at: string; mb: number }[] }>(withQuery(`${path}/${encodeURIComponent(table)}/sizes`,
    [["minutes", String(7 * 24 * 60)]]), { signal }), [table]);
  const sizes = answer?.sizes ?? [];
  if (sizes.length < 2) return null;
  const columns = [{ name: t("size"), type: "int" }, { name: t("time"), type: "time" }].reverse();
  return <section aria-labelledby="growth-title"><div class="bar"><h2 id="growth-title" dir="auto">{t("growthOf", { table })}</h2>
    <button type="button" class="quiet" onClick={() => download("table-sizes.csv", csv(["at", "mb"], sizes.map((s) => [s.at, s.mb])))}>{t("csv")}</button></div>
    <Chart columns={columns} rows={sizes.map((s) => [s.at, s.mb])} /></section>;
}

/** What differs from nothing, in the order of its name. */
const sorted = (settings: Record<string, string>): [string, string][] => Object.entries(settings).sort(([a], [b]) => a < b ? -1 : 1);

function OneTable({ of }: { of: Stored }) {
  const { answer, err, again } = useAnswer(of.detail ? null : (signal) => ask<{ regions: Region[] }>(`${path}/${encodeURIComponent(of.name)}/regions`, { signal }), [of.name]);
  const settings = [...sorted(of.settings).map(([name, value]) => ({ family: "", name, value })),
    ...of.families.flatMap((f) => sorted(f.settings).map(([name, value]) => ({ family: f.name, name, value })))];
  const servers = new Map<string, { server: string; regions: number; mb: number; reads: number; writes: number }>();
  for (const r of answer?.regions ?? []) {
    const sum = servers.get(r.server) ?? { server: r.server, regions: 0, mb: 0, reads: 0, writes: 0 };
    sum.regions++;
    sum.mb += r.files_mb + r.memstore_mb;
    sum.reads += r.reads;
    sum.writes += r.writes;
    servers.set(r.server, sum);
  }
  return <>
    <h2 id="servers-title" dir="auto">{t("serversOf", { table: of.name })}</h2>
    {err !== undefined && <Failure err={err} again={again} />}
    {answer && <List label={t("serversOf", { table: of.name })} file="table-servers.csv" rows={[...servers.values()].sort((a, b) => b.regions - a.regions)} empty={t("regionsNone")} columns={[
      { name: "server", label: t("server"), of: (s) => s.server, long: true },
      { name: "regions", label: t("regions"), of: (s) => s.regions },
      { name: "mb", label: t("size"), of: (s) => s.mb },
      { name: "reads", label: t("reads"), of: (s) => s.reads },
      { name: "writes", label: t("writes"), of: (s) => s.writes },
    ]}><a href={withQuery("/regions", [["table", of.name]])}>{t("regionsOf", { table: of.name })} ({numberText(of.regions)})</a></List>}
    <Growth table={of.name} />
    <h2>{t("settingsOf", { table: of.name })}</h2>
    <List label={t("settingsOf", { table: of.name })} file="table-settings.csv" rows={settings} empty={t("settingsNone")} columns={[
      { name: "family", label: t("family"), of: (s) => s.family, show: (s) => s.family || t("wholeTable") },
      { name: "setting", label: t("setting"), of: (s) => s.name },
      { name: "value", label: t("value"), of: (s) => s.value, long: true },
    ]} />
  </>;
}
