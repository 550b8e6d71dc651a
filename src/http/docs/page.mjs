// The script of the docs page: search, commands to copy, requests to try; and of the first page: signing out. It runs in browsers, so it is plain JavaScript.

const { prefix, copy, copied, sending } = document.body.dataset;
const key = document.querySelector("#key");
const entries = [...document.querySelectorAll("details")];
const answerCharactersMax = 200_000;

document.querySelector("#search")?.addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/);
  for (const entry of entries) {
    const text = `${entry.id} ${entry.querySelector("summary").textContent}`.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
  }
  for (const section of document.querySelectorAll("section"))
    section.hidden = !section.querySelector("details:not([hidden])");
  document.querySelector("#none").hidden = entries.some((entry) => !entry.hidden);
});

key?.addEventListener("input", () => entries.filter(({ open }) => open).forEach(showCommand));

for (const entry of entries) {
  const form = entry.querySelector("form");
  entry.addEventListener("toggle", () => showCommand(entry));
  form.addEventListener("input", () => showCommand(entry));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(entry);
  });
  const button = form.querySelector(".copy");
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(form.querySelector(".curl").textContent);
    button.textContent = copied;
  });
  button.addEventListener("blur", () => {
    button.textContent = copy;
  });
}

document.querySelector("#sign-out")?.addEventListener("click", () => void signOut());

const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named?.tagName === "DETAILS") named.open = true;

async function signOut() {
  const headers = { "content-type": "application/json" };
  await fetch(`${prefix}/api/v1/sign-out`, { method: "POST", headers, body: "{}" });
  location.reload();
}

/** What the form asks for: an address, headers and a body. */
function requestOf(entry) {
  const { method, type } = entry.dataset;
  const headers = {};
  const query = new URLSearchParams();
  let { path } = entry.dataset;
  for (const { name, value, dataset } of entry.querySelectorAll("input")) {
    if (dataset.place === "path")
      path = path.replace(`{${name}}`, () => (value === "" ? `{${name}}` : encodePath(value)));
    else if (value !== "" && dataset.place === "query") query.append(name, value);
    else if (value !== "") headers[name] = value;
  }
  if (key.value !== "") headers.authorization = `Bearer ${key.value}`;
  const body = entry.querySelector("textarea")?.value;
  if (body !== undefined) headers["content-type"] = type;
  const search = query.size === 0 ? "" : `?${query}`;
  return { method, url: `${location.origin}${prefix}${path}${search}`, headers, body };
}

function encodePath(value) {
  return value.split("/").map(encodeURIComponent).join("/");
}

function showCommand(entry) {
  const { method, url, headers, body } = requestOf(entry);
  const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const { type } = entry.dataset;
  const sent =
    type === "multipart/form-data" ? ["-F file=@FILE"] : type.endsWith("octet-stream") ? ["--data-binary @FILE"] : [];
  const parts = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? sent : [`-d ${quote(body)}`]),
  ];
  entry.querySelector(".curl").textContent = parts.join(" \\\n  ");
}

async function send(entry) {
  const result = entry.querySelector(".result");
  const { method, url, headers, body } = requestOf(entry);
  result.hidden = false;
  result.textContent = sending;
  try {
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    result.textContent = `${response.status} ${response.headers.get("content-type") ?? ""}\n\n`;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done || result.textContent.length > answerCharactersMax) break;
      result.append(value);
    }
    await reader?.cancel();
  } catch (error) {
    result.textContent = String(error);
  }
}
