import { render, type JSX } from "preact";
import { useEffect } from "preact/hooks";
import { onSignedOut, type Me } from "../lib/api";
import { go, usePlace } from "../lib/router";
import { expired, language, me, t, useStore } from "../lib/store";
import { Failure, Frame, SignIn, askMe, useAnswer, useTitle } from "../lib/ui";
import { Accounts } from "../pages/accounts";
import { Audit } from "../pages/audit";
import { Configuration } from "../pages/configuration";
import { DeadLetters } from "../pages/deadletters";
import { Jobs } from "../pages/jobs";
import { Keys } from "../pages/keys";
import { Offsets } from "../pages/offsets";
import { Overview } from "../pages/overview";
import { Own } from "../pages/own";
import { Regions } from "../pages/regions";
import { Replay, Verify } from "../pages/replay";
import { SQL } from "../pages/sql";
import { Tables } from "../pages/tables";
import "../style.css";

onSignedOut(() => { if (me.value && me.value !== "open") expired.value = true; });

function App() {
  useStore(language);
  const { path } = usePlace();
  const who = useStore(me);
  const first = useAnswer(askMe, []);
  const tabs = [
    ...(operates(who) ? [{ path: "/overview", name: t("overview") }, { path: "/dead-letters", name: t("deadLetters") }, { path: "/offsets", name: t("offsets") },
      { path: "/replay", name: t("replay") }, { path: "/verify", name: t("verify") }, { path: "/jobs", name: t("jobs") },
      { path: "/regions", name: t("regions") }, { path: "/tables", name: t("tables") }, { path: "/keys", name: t("keys") }] : []),
    ...(who ? [{ path: "/sql", name: t("sql") }] : []),
    ...(operates(who) ? [{ path: "/configuration", name: t("configuration") }] : []),
    ...(administrates(who) ? [{ path: "/accounts", name: t("accounts") }, { path: "/audit", name: t("audit") }] : []),
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
const administrates = (who: Who): boolean => who !== "open" && who?.role === "admin";

const operations: Record<string, () => JSX.Element> = {
  "/overview": () => <Overview />, "/dead-letters": () => <DeadLetters />, "/offsets": () => <Offsets />, "/regions": () => <Regions />,
  "/replay": () => <Replay />, "/verify": () => <Verify />, "/jobs": () => <Jobs />, "/tables": () => <Tables />, "/keys": () => <Keys />, "/configuration": () => <Configuration />,
};

function Pages({ path }: { path: string }) {
  useEffect(() => { if (path === "/") go("/overview", true); }, [path]);
  const who = useStore(me);
  if (path === "/") return null;
  if (path === "/sql" && (operates(who) || who !== "open" && who?.role === "support")) return <SQL />;
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
    <SignIn then={(who) => { me.value = who; if (path === "/signin") go("/", true); }} /></div>;
}

render(<App />, document.getElementById("app")!);
