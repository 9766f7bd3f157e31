// A page for console.test.mjs: a value that changes after the first render and before the effects of that render.
import { h, render } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Store, useStore } from "../src/lib/store.ts";

const store = new Store("first");

function Shows() { return h("p", null, useStore(store)); }

function Changes() {
  useLayoutEffect(() => { store.value = "second"; }, []);
  return null;
}

render(h("div", null, h(Shows), h(Changes)), document.body);
