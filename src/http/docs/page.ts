import { z } from "zod";
import type { Words } from "../../words/words.ts";
import type { Json } from "../openapi-schemas.ts";
import { schemaText } from "./schema-text.ts";

type Texts = { readonly prefix: string; readonly words: Words["docs"] };

/** The whole document as one page: a list to search, each entry with its schemas and a form to try it. */
export function docsPage(document: Json, { prefix, words }: Texts): string {
  const { info, tags, paths, components } = Document.parse(document);
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
    )
    // Other names for the same would only make the list long.
    .filter((operation) => operation["x-same-as"] === undefined);
  const sections = tags.map(({ name }) => {
    const own = operations.filter(({ tags: [tag] }) => tag === name);
    const title = Object.entries(words.tag).find(([tag]) => tag === name)?.[1] ?? name;
    return `<section><h2>${plain(title)}</h2>${own.map((one) => entry(one, { words, components })).join("")}</section>`;
  });
  return frame(
    { prefix, words, title: words.title },
    `<header><h1>${plain(words.title)} <small>${plain(info.version)}</small></h1>
<p>${marked(words.about)} <a href="${prefix}/openapi.json">openapi.json</a></p>
<p><input id="search" type="search" placeholder="${plain(words.search)}" aria-label="${plain(words.search)}">
<input id="key" type="password" autocomplete="off" placeholder="${plain(words.key)}" aria-label="${plain(words.key)}" title="${plain(words.keyHint)}"></p></header>
<main>${sections.join("\n")}<p id="none" hidden>${plain(words.none)}</p></main>
<script type="module" src="${prefix}/docs/page.js"></script>`,
  );
}

type Welcome = Texts & {
  readonly version: string;
  /** Who is signed in with this browser. */
  readonly user: string | undefined;
  /** There is somebody who could. */
  readonly canSignIn: boolean;
  /** The browser app would stand here, had it been built. */
  readonly lacksApp: boolean;
};

/** Where to begin, for whoever opens the address in a browser. */
export function welcomePage({ prefix, words, version, user, canSignIn, lacksApp }: Welcome): string {
  const links = [
    ["/docs", words.toDocs],
    ["/openapi.json", words.toDocument],
    ["/v1/models", words.toOpenAi],
    ["/api/v1/health", words.toHealth],
    ...(canSignIn ? [["/sign-in", words.signIn]] : []),
  ].map(
    ([path = "", text = ""]) => `<li><a href="${prefix}${path}"><code>${prefix}${path}</code></a> ${plain(text)}</li>`,
  );
  const signedIn =
    user === undefined
      ? ""
      : `<p>${plain(words.signedIn({ user }))} <button type="button" id="sign-out">${words.signOut}</button></p>
<script type="module" src="${prefix}/docs/page.js"></script>`;
  return frame(
    { prefix, words, title: words.welcome },
    `<header><h1>${plain(words.welcome)} <small>${plain(version)}</small></h1>
<p>${marked(words.welcomeText)}</p>${lacksApp ? `<p>${marked(words.appMissing)}</p>` : ""}</header><main><ul>${links.join("")}</ul>${signedIn}</main>`,
  );
}

function frame({ prefix, words, title }: Texts & { readonly title: string }, body: string): string {
  const said = Object.entries({ copied: words.copied, copy: words.copy, sending: words.sending });
  const data = said.map(([name, text]) => `data-${name}="${plain(text)}"`).join(" ");
  return `<!doctype html>
<html lang="${words.language}"><head><meta charset="utf-8"><title>${plain(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${prefix}/docs/page.css"></head>
<body data-prefix="${prefix}" ${data}>${body}</body></html>
`;
}

const Content = z.record(z.string(), z.object({ schema: z.unknown(), example: z.unknown().optional() }));
const Parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  schema: z.unknown(),
  example: z.string().optional(),
});
const Operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(z.union([Parameter, z.object({ $ref: z.string() })])).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Content.optional() })),
  "x-scope": z.string(),
  "x-same-as": z.string().optional(),
});
/** As much of the document as the page shows. */
const Document = z.object({
  info: z.object({ version: z.string() }),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()), parameters: z.record(z.string(), Parameter) }),
});
type Entry = z.infer<typeof Operation> & { readonly method: string; readonly path: string };
type PageParts = { readonly words: Words["docs"]; readonly components: z.infer<typeof Document>["components"] };

function entry(operation: Entry, shared: PageParts): string {
  const { method, path, operationId, summary, responses, requestBody } = operation;
  const { words, components } = shared;
  const [[type = "", body] = []] = Object.entries(requestBody?.content ?? {});
  const answers = Object.entries(responses).filter(([status]) => /^2/.test(status));
  const failures = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
  const schema = (of: unknown) => `<pre>${plain(schemaText(of, components.schemas))}</pre>`;
  return `<details id="${plain(operationId)}" data-method="${method}" data-path="${plain(path)}" data-type="${plain(type)}">
<summary><b class="${method.toLowerCase()}">${method}</b> <code>${plain(path)}</code> <span>${marked(summary)}</span></summary>
<form>${parameterRows(operation, shared)}
${body === undefined ? "" : `<h3>${words.body} <small>${plain(type)}</small></h3>${schema(body.schema)}${bodyField(type, body.example)}`}
<h3>${words.curl}</h3><pre class="curl"></pre>
<p><button type="button" class="copy">${words.copy}</button> <button type="submit">${words.send}</button></p>
<pre class="result" hidden></pre></form>
<h3>${words.answer}</h3>${answers
    .map(
      ([status, { content = {} }]) =>
        Object.entries(content)
          .map(([kind, { schema: of }]) => `<p><b>${status}</b> <small>${plain(kind)}</small></p>${schema(of)}`)
          .join("") || `<p><b>${status}</b></p>`,
    )
    .join("")}
<h3>${words.failures}</h3><ul>${failures.map(([status, { description }]) => `<li><b>${status}</b> <code>${plain(description)}</code></li>`).join("")}</ul>
<p><small>${words.scope}: ${plain(operation["x-scope"])}</small></p></details>`;
}

function parameterRows({ parameters }: Entry, { words, components }: PageParts): string {
  const rows = parameters.flatMap((one) => {
    const parameter = "name" in one ? one : components.parameters[one.$ref.split("/").at(-1) ?? ""];
    if (parameter === undefined) return [];
    const { name, in: place, required, schema, example = "" } = parameter;
    // What may be left out is left out at the first try.
    const value = required && example !== "" ? ` value="${plain(example)}"` : "";
    const type = schemaText(schema, components.schemas);
    return [
      `<tr><th><label>${plain(name)}</label></th><td>${words.place[place]}${required ? `, ${words.required}` : ""}</td>` +
        `<td><code>${plain(type)}</code></td><td><input name="${plain(name)}" data-place="${place}" aria-label="${plain(name)}"${value}></td></tr>`,
    ];
  });
  return rows.length === 0 ? "" : `<h3>${words.parameters}</h3><table>${rows.join("")}</table>`;
}

/** Bytes and forms are for the command line. */
function bodyField(type: string, example: unknown): string {
  if (type !== "application/json") return "";
  const text = example === undefined ? "{}" : JSON.stringify(example, null, 2);
  return `<textarea name="body" rows="${text.split("\n").length + 1}" spellcheck="false">${plain(text)}</textarea>`;
}

/** Text of ours: what stands in backquotes is code. */
function marked(text: string): string {
  return plain(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function plain(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
