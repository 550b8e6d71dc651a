import assert from "node:assert/strict";
import { test } from "node:test";

// By its address: its types are those of a browser, which the rest of the house does not have.
const file = new URL("../../web/src/markdown/highlight.ts", import.meta.url);
type Highlight = (code: string, language: string) => readonly { text: string; kind: string | undefined }[] | undefined;
const { highlight }: { highlight: Highlight } = await import(file.href);

test("code in an answer has the colours of its language, and of another one inside of it [B1]", () => {
  const coloured = highlight('const a = 1; // "one"', "ts")?.filter(({ kind }) => kind !== undefined);
  assert.deepEqual(coloured, [
    { text: "const", kind: "keyword" },
    { text: "1", kind: "number" },
    { text: '// "one"', kind: "comment" },
  ]);
  const page = highlight("<p><script>let a;</script>", "svg") ?? [];
  assert.equal(page.find(({ text }) => text === "let")?.kind, "keyword");
  assert.equal(page.find(({ text }) => text === " a;")?.kind, undefined);
  assert.equal(highlight("a", "klingon"), undefined);
});

test("code that is nested as deep as it can be shown with colours loses no word [B1]", () => {
  const code = '"${'.repeat(10_000);
  assert.equal(
    highlight(code, "bash")
      ?.map(({ text }) => text)
      .join(""),
    code,
  );
});
