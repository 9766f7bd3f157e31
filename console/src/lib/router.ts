import { Store, useStore } from "./store";

const here = (): string => location.pathname + location.search;
const place = new Store(here());
addEventListener("popstate", () => { place.value = here(); });

/** Where the page is: its path, and its parameters. */
export function usePlace(): { path: string; query: URLSearchParams } {
  const text = useStore(place);
  const url = new URL(text, location.origin);
  return { path: url.pathname, query: url.searchParams };
}

export function go(to: string, replace = false): void {
  if (to === place.value) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  place.value = here();
}

/** Follows links within the console without loading it again. */
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin || link.hasAttribute("data-whole")) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
