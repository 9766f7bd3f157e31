import { defineConfig } from "vite";
import { operatorsPages, usersPages } from "./src/lib/pages.ts";

// Two consoles are built of one source, one for each listener of brine: what operators see is not among the files of users.
export default defineConfig(({ mode }) => {
  const operators = mode === "operators";
  return {
    root: operators ? "operators" : "users",
    base: "/",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: [{
      name: "pages", // the paths that the server answers with index.html
      generateBundle() {
        this.emitFile({ type: "asset", fileName: "pages.txt", source: (operators ? operatorsPages : usersPages).join("\n") + "\n" });
      },
    }, {
      name: "language", // which texts are needed is known before the console's script is there
      transformIndexHtml: { order: "post", handler(_, { bundle }) {
        const file = Object.values(bundle ?? {}).find((one) => one.type === "chunk" && one.name === "language");
        return file ? [{ tag: "script", attrs: { type: "module", async: true, crossorigin: true, src: `/${file.fileName}` }, injectTo: "head" }] : [];
      } },
    }],
    build: {
      outDir: `../dist/${operators ? "operators" : "users"}`,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0, // nothing of a page is within another: the policy allows files alone
      modulePreload: false,
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "language", test: /\/lib\/language\.ts$/ }] } } },
      reportCompressedSize: false,
    },
  };
});
