import { render } from "preact";
import { useEffect } from "preact/hooks";
import { onSignedOut, type Me } from "../lib/api";
import { go, usePlace } from "../lib/router";
import { expired, language, me, t, useStore } from "../lib/store";
import { Failure, Frame, SignIn, askMe, useAnswer, useTitle } from "../lib/ui";
import { Accounts } from "../pages/accounts";
import { Audit } from "../pages/audit";
import { Overview } from "../pages/overview";
import { Regions } from "../pages/regions";
import { SQL } from "../pages/sql";
import "../style.css";

onSignedOut(() => { if (me.value && me.value !== "open") expired.value = true; });

function App() {
  useStore(language);
  const { path } = usePlace();
  const who = useStore(me);
  const first = useAnswer(askMe, []);
  const tabs = [
    ...(operates(who) ? [{ path: "/overview", name: t("overview") }, { path: "/regions", name: t("regions") }] : []),
    ...(who ? [{ path: "/sql", name: t("sql") }] : []),
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

function Pages({ path }: { path: string }) {
  useEffect(() => { if (path === "/") go("/overview", true); }, [path]);
  const who = useStore(me);
  if (path === "/") return null;
  if (path === "/sql" && (operates(who) || who !== "open" && who?.role === "support")) return <SQL />;
  if (!operates(who)) return <p>{t("forbidden")}</p>;
  if (path === "/overview") return <Overview />;
  if (path === "/regions") return <Regions />;
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
