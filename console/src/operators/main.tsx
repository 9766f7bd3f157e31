import { render, type JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Me } from "../lib/api";
import { backToMark, go, usePlace } from "../lib/router";
import { begin, language, me, t, useStore } from "../lib/store";
import { Failure, Frame, SignIn, askMe, useAnswer, useTitle, type Tab } from "../lib/ui";
import { Accounts } from "../pages/accounts";
import { Audit } from "../pages/audit";
import { Configuration } from "../pages/configuration";
import { DeadLetters } from "../pages/deadletters";
import { Jobs } from "../pages/jobs";
import { Keys } from "../pages/keys";
import { Offsets } from "../pages/offsets";
import { Overview } from "../pages/overview";
import { Own } from "../pages/own";
import { Records } from "../pages/records";
import { Regions } from "../pages/regions";
import { Replay, Verify } from "../pages/replay";
import { SQL } from "../pages/sql";
import { Tables } from "../pages/tables";
import "../style.css";

function App() {
  useStore(language);
  const { path } = usePlace();
  const who = useStore(me);
  const first = useAnswer(askMe, []);
  const of = (group: string, ...pages: [string, string][]): Tab[] => pages.map(([path, name]) => ({ path, name, group }));
  const tabs = [
    ...(operates(who) ? [
      ...of(t("pipelines"), ["/overview", t("overview")], ["/dead-letters", t("deadLetters")], ["/offsets", t("offsets")], ["/records", t("records")]),
      ...of(t("jobs"), ["/replay", t("replay")], ["/verify", t("verify")], ["/jobs", t("jobs")]),
      ...of(t("data"), ["/regions", t("regions")], ["/tables", t("tables")], ["/keys", t("keys")])] : []),
    ...(queries(who) ? of(t("data"), ["/sql", t("sql")]) : []),
    ...(operates(who) ? of(t("administration"), ["/configuration", t("configuration")]) : []),
    ...(administrates(who) ? of(t("administration"), ["/accounts", t("accounts")], ["/audit", t("audit")]) : []),
  ];
  return <Frame tabs={tabs} signedOut={() => go("/signin")}>
    {first.err !== undefined ? <Failure err={first.err} again={first.again} />
      : who === undefined ? <p role="status">{t("loading")}</p>
      : who === null || path === "/signin" ? <SignInPage />
      : <Pages path={path} />}
  </Frame>;
}

type Who = Me | null | "open" | undefined;
const operates = (who: Who): boolean => who === "open" || who?.role === "operator" || who?.role === "admin";
const queries = (who: Who): boolean => operates(who) || who !== "open" && who?.role === "support";
const administrates = (who: Who): boolean => who !== "open" && who?.role === "admin";

const operations: Record<string, () => JSX.Element> = {
  "/overview": () => <Overview />, "/dead-letters": () => <DeadLetters />, "/offsets": () => <Offsets />, "/records": () => <Records />, "/regions": () => <Regions />,
  "/replay": () => <Replay />, "/verify": () => <Verify />, "/jobs": () => <Jobs />, "/tables": () => <Tables />, "/keys": () => <Keys />, "/configuration": () => <Configuration />,
};

function Pages({ path }: { path: string }) {
  useEffect(() => { if (path === "/") go("/overview", true); }, [path]);
  const who = useStore(me);
  if (path === "/") return null;
  if (path === "/sql" && queries(who)) return <SQL records={operates(who) && who !== "open"} />;
  if (path === "/me") return <Own />;
  if (!operates(who)) return <p>{t("forbidden")}</p>;
  const page = operations[path];
  if (page) return page();
  if (path === "/accounts" || path === "/audit") {
    if (!administrates(who)) return <p>{t("adminOnly")}</p>;
    return path === "/accounts" ? <Accounts /> : <Audit />;
  }
  return <p>{t("notThere")} <a href="/">{t("home")}</a></p>;
}

function SignInPage() {
  useTitle(t("signIn"));
  const { path } = usePlace();
  return <div class="signin"><h1>{t("signIn")}</h1><p>{t("signInOps")}</p>
    <SignIn then={(who) => { me.value = who; if (!backToMark() && path === "/signin") go("/", true); }} /></div>;
}

begin(() => render(<App />, document.getElementById("app")!));
