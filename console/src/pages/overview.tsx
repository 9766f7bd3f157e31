import { useEffect, useState } from "preact/hooks";
import { Fault, ask, watch } from "../lib/api";
import { numberText, spanText, t, term, useStore, me } from "../lib/store";
import { Badge, Failure, faultText, useAnswer, useTitle } from "../lib/ui";

interface Half {
  name: string; kind: string; group: string; state: string; detail?: string; lag: number; members: string[]; regions?: number;
  offsets_per_second?: number; arriving_per_second?: number; age_seconds?: number;
  counts?: { events: number; retries: number; retried?: string; cause?: string; dead_letters: number };
  partitions?: Partition[];
}
interface Partition {
  topic: string; partition: number; committed?: number; latest: number; lag: number; state?: string; detail?: string; watermark?: number;
}
interface Pipeline { name: string; topics: string[]; topic_pattern?: string; tables: string[]; indexes: string[]; halves: Half[] }

const path = "/api/v1/ops/pipelines";

/** Each pipeline as the way of its records: the topic, what reads it, and what that writes. */
export function Overview() {
  useTitle(t("overview"));
  const who = useStore(me);
  const [list, setList] = useState<Pipeline[] | null>(null);
  const [stale, setStale] = useState<unknown>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    void watch<{ pipelines: Pipeline[] }>(path + "/events", undefined, {
      page: (now) => { setList(now.pipelines); setStale(undefined); },
      stale: (fault) => setStale(fault),
    }, stop.signal);
    return () => stop.abort();
  }, [who]);
  if (stale instanceof Fault && stale.status === 404) return <><h1>{t("overview")}</h1><p>{t("noOverview")}</p></>;
  const troubled = (list ?? []).flatMap((p) => p.halves).filter((h) => h.state !== "running").length;
  return <>
    <div class="bar"><h1>{t("overview")}</h1>
      <span class={list && stale === undefined ? "live on" : "live"} role="status">
        {stale !== undefined ? t("notLive", { why: stale === null ? t("reconnecting") : faultText(stale) }) : list ? t("live") : t("connecting")}</span></div>
    {list && <p class={troubled > 0 ? "hint" : "small"}>{troubled > 0 ? t("troubled", { n: troubled }) : t("allWell")}</p>}
    {list?.map((p) => <OnePipeline key={p.name} of={p} />)}
  </>;
}

function OnePipeline({ of }: { of: Pipeline }) {
  const [open, setOpen] = useState(false);
  const id = `pipeline-${of.name}`;
  return <section class="sheet" aria-labelledby={id}>
    <div class="bar"><h2 id={id} dir="auto">{of.name}</h2>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>{t(open ? "hidePartitions" : "showPartitions")}</button></div>
    <div class="way">
      <div class="stop"><small>{t("topic")}</small>{[...of.topics, ...(of.topic_pattern ? [of.topic_pattern] : [])].map((n) => <span key={n} dir="auto">{n}</span>)}</div>
      <ul class="branches">{of.halves.map((h) => <li key={h.name}>
        <Reading of={h} />
        <div class="stop"><small>{t(h.kind === "documents" ? "documents" : "rows")}</small>
          {(h.kind === "documents" ? of.indexes : of.tables).map((n) => <span key={n} dir="auto">{n}</span>)}</div>
      </li>)}</ul>
    </div>
    {open && <Partitions name={of.name} />}
  </section>;
}

function Reading({ of }: { of: Half }) {
  const rate = of.offsets_per_second, arriving = of.arriving_per_second ?? 0;
  const drain = of.lag <= 0 || rate === undefined ? "" : rate - arriving > 0.01 ? spanText(of.lag / (rate - arriving) * 1000) : t("never");
  const figures: [string, string][] = [
    [t("lag"), of.lag < 0 ? t("unknown") : numberText(of.lag)],
    ...(rate === undefined ? [] : [[t("rate"), numberText(Math.round(rate))] as [string, string]]),
    ...(of.arriving_per_second === undefined ? [] : [[t("arriving"), numberText(Math.round(arriving))] as [string, string]]),
    ...(drain ? [[t("drain"), drain] as [string, string]] : []),
    ...(of.age_seconds ? [[t("oldest"), spanText(of.age_seconds * 1000)] as [string, string]] : []),
    ...(of.counts ? [[t("deadLetters"), numberText(of.counts.dead_letters)], [t("retries"), numberText(of.counts.retries)]] as [string, string][] : []),
    [t("members"), of.members.length ? numberText(of.members.length) : t("noMembers")],
  ];
  const why = of.counts?.cause ?? of.detail;
  return <div class="reading">
    <div><strong dir="auto">{of.name}</strong> <Badge state={of.state} /></div>
    <dl class="figures">{figures.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    {why && <p class="cause" dir="auto">{why}</p>}
  </div>;
}

function Partitions({ name }: { name: string }) {
  const { answer, err, again } = useAnswer<Pipeline>((signal) => ask<Pipeline>(`${path}/${encodeURIComponent(name)}`, { signal }), [name]);
  if (err !== undefined) return <Failure err={err} again={again} />;
  if (!answer) return <p role="status">{t("loading")}</p>;
  return <>{answer.halves.map((h) => <div key={h.name} class="scroll" tabIndex={0} role="group" aria-label={`${t("partitions")}: ${h.name}`}>
    <table>
      <caption>{h.name}</caption>
      <thead><tr><th scope="col">{t("topic")}</th><th scope="col">{t("partition")}</th><th scope="col">{t("lag")}</th><th scope="col">{t("watermark")}</th>
        <th scope="col">{t("committed")}</th><th scope="col">{t("latestOffset")}</th><th scope="col">{term("status")}</th></tr></thead>
      <tbody>{(h.partitions ?? []).map((p) => <tr key={p.topic + p.partition}>
        <td dir="auto">{p.topic}</td><td class="number">{p.partition}</td><td class="number">{p.lag < 0 ? "?" : numberText(p.lag)}</td>
        <td class="number">{p.watermark === undefined ? "" : numberText(p.watermark)}</td><td class="number">{p.committed === undefined ? "" : numberText(p.committed)}</td>
        <td class="number">{numberText(p.latest)}</td><td>{p.state && <Badge state={p.state} />} {p.detail}</td></tr>)}</tbody>
    </table></div>)}</>;
}
