import { Store, userName, useStore } from "./store";

const here = (): string => location.pathname + location.search + location.hash;
const place = new Store(here());
addEventListener("popstate", () => { place.value = here(); });

/** Where the page is: its path, its parameters, and its fragment, which browsers send to nobody. */
export function usePlace(): { path: string; query: URLSearchParams; fragment: string } {
  const text = useStore(place);
  const url = new URL(text, location.origin);
  return { path: url.pathname, query: url.searchParams, fragment: url.hash.slice(1) };
}

export function go(to: string, replace = false): void {
  if (to === place.value) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  place.value = here();
}

/** What entries of the tab's history say of the user who has made them. */
interface Private { by?: string }

/** What names the entry of the tab's history that is shown. */
export function entry(): string {
  const state = history.state as { entry?: string } | null;
  if (state?.entry) return state.entry;
  const fresh = Date.now().toString(36) + Math.random().toString(36).slice(2); // the browser has randomUUID only for pages that come by TLS
  history.replaceState({ ...state, entry: fresh }, "");
  return fresh;
}

/** Goes to an address whose fragment is the user's own: in this tab it is kept from whoever signs in next. */
export function goPrivately(path: string, fragment: string, replace = false): void {
  const to = path + "#" + encodeURIComponent(fragment).replaceAll("%2C", ","), by: Private = { by: userName() };
  if (to === place.value) return;
  if (replace) history.replaceState(by, "", to);
  else history.pushState(by, "", to);
  place.value = here();
}

/** The text that the address's fragment is. One that another user has left in this tab's history is removed; one that came by a link is the user's from now on. */
export function takeFragment(): string {
  if (location.hash === "") return "";
  const by = (history.state as Private | null)?.by;
  if (by !== undefined && by !== userName()) {
    go(location.pathname + location.search, true);
    return "";
  }
  history.replaceState({ by: userName() } satisfies Private, "", here());
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // it is not one of ours
  }
}

/** Follows links within the console without loading it again. */
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin || link.hasAttribute("data-whole")) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
