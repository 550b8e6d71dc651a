import { ok, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { type SignedIn, signInWaitSeconds } from "../users/users.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../words/words.ts";
import { readBytes } from "./body.ts";
import { bodyAsItComes } from "./bytes.ts";
import { ownCookie, readCookies, setCookie, signedInCookie, wayCookie } from "./cookie.ts";
import type { App, HandOn, HttpCall } from "./door.ts";
import type { Parts } from "./handler.ts";
import { refuse } from "./problem.ts";
import { type SignInView, signInPage, signInPolicy } from "./sign-in-page.ts";
import { statusOf } from "./status.ts";
import type { Tries } from "./tries.ts";

const formBytesMax = 16 * 1024;

type SignInUsers = Pick<Parts, "users" | "server" | "signInService">;
type SignInParts = { readonly tries: Tries; readonly handOn: HandOn | undefined };

/** Signing in with a browser: by password, by a link that was made for somebody, or through the sign-in service. */
export function bindSignInPages(app: App, parts: SignInUsers, { tries, handOn }: SignInParts): void {
  const { users, server } = parts;

  async function show(
    c: HttpCall,
    asked: Asked,
    told: Partial<SignInView> & { readonly reason?: Failure | undefined },
  ) {
    const { reason, ...view } = told;
    const said =
      reason && failureWordsOverHttp(wordsFor(asked.language), reason).join(asked.language === "zh" ? "" : " ");
    c.header("content-security-policy", signInPolicy);
    c.header("referrer-policy", "same-origin");
    c.header("x-content-type-options", "nosniff");
    if (reason?.code === "rate_limited") c.header("retry-after", String(reason.params.retryAfterSeconds));
    const service = parts.signInService?.name;
    const usual = { ...asked, prefix: c.get("arrival").prefix, service, link: undefined, user: "", said };
    const html = signInPage({ ...usual, usersExist: (await users.exist()) || service !== undefined, ...view });
    return c.html(html, reason === undefined ? 200 : statusOf(reason));
  }

  function enter(c: HttpCall, { token }: SignedIn, next: string): Response {
    const lastsMs = server().signInLastsMs;
    c.header("set-cookie", signedInCookie(c.get("arrival"), { token, lastsMs }), { append: true });
    return c.redirect(next, 303);
  }

  app.get("/sign-in", async (c) => {
    const asked = askedOf(c, new URL(c.req.url).searchParams);
    const token = c.req.query("link");
    if (token === undefined) return show(c, asked, {});
    const user = await users.ofLink(token);
    if (user === undefined) return show(c, asked, { reason: makeFailure("sign_in_link_used", {}) });
    // Only looked at: programs that read ahead must not use it up.
    return show(c, asked, { link: { token, user: user.name || user.id } });
  });

  app.post("/sign-in", async (c) => {
    // Tries are counted by one server for all.
    const elsewhere = await handOn?.(c, "u:*", bodyAsItComes(c.req.raw));
    if (elsewhere !== undefined) return elsewhere;
    const arrival = c.get("arrival");
    const fromHere = tries.from(arrival);
    if (fromHere !== undefined) return show(c, askedOf(c, new URLSearchParams()), { reason: fromHere });
    const form = await readForm(c.req.raw);
    const fields = form.ok ? form.value : new URLSearchParams();
    const asked = askedOf(c, fields);
    if (!form.ok) return show(c, asked, { reason: form.failure });
    const [link, user, password] = [fields.get("link"), fields.get("user") ?? "", fields.get("password") ?? ""];
    const name = link === null ? user : undefined;
    const about = name === undefined ? undefined : tries.as(name, arrival);
    if (about !== undefined) return show(c, asked, { reason: about, user });
    const signed = await (link === null ? users.signIn(user, password) : users.signInByLink(link));
    if (!signed.ok) return show(c, asked, { reason: signed.failure, user });
    tries.worked(arrival);
    return enter(c, signed.value, asked.next);
  });

  bindService(app, parts, { show, enter, handOn });
  for (const [path, allowed] of Object.entries(methodsOf))
    app.all(path, (c) => {
      c.header("allow", allowed);
      return refuse(c, makeFailure("method_not_allowed", { method: c.req.method.slice(0, 20), allowed }));
    });
}

const methodsOf = {
  "/sign-in": "GET, HEAD, POST",
  "/sign-in/oidc": "GET, HEAD",
  "/sign-in/oidc/callback": "GET, HEAD",
};

type Pages = {
  readonly show: (c: HttpCall, asked: Asked, told: { readonly reason: Failure }) => Promise<Response>;
  readonly enter: (c: HttpCall, signedIn: SignedIn, next: string) => Response;
  readonly handOn: HandOn | undefined;
};

function bindService(app: App, { users, signInService }: SignInUsers, { show, enter, handOn }: Pages): void {
  if (signInService === undefined) return;
  // Who begins and who comes back meet one server: it knows its own signature, and gives each name once.
  const elsewhere = async (c: HttpCall) => handOn?.(c, "u:*", { bytes: undefined });

  app.get("/sign-in/oidc", async (c) => {
    const there = await elsewhere(c);
    if (there !== undefined) return there;
    const asked = askedOf(c, new URL(c.req.url).searchParams);
    const { scheme = "http", host, prefix } = c.get("arrival");
    const callback = `${scheme}://${host}${prefix}/sign-in/oidc/callback`;
    const begun = await signInService.begin({ callback, next: asked.next });
    if (!begun.ok) return show(c, asked, { reason: begun.failure });
    const { kept, url } = begun.value;
    c.header("set-cookie", wayTo(c, kept, signInWaitSeconds), { append: true });
    return c.redirect(url, 303);
  });

  app.get("/sign-in/oidc/callback", async (c) => {
    const there = await elsewhere(c);
    if (there !== undefined) return there;
    c.header("set-cookie", wayTo(c, "", 0), { append: true });
    const person = await finish(signInService, c);
    const signed: Result<SignedIn, Failure> = person.ok ? await users.signInFromService(person.value) : person;
    if (signed.ok && person.ok) return enter(c, signed.value, person.value.next);
    const asked = askedOf(c, new URLSearchParams());
    return show(c, asked, { reason: signed.ok ? makeFailure("sign_in_expired", {}) : signed.failure });
  });
}

/** Over http a neighbour can put a way of its own before ours: one that does not fit this answer is passed over. */
async function finish(service: NonNullable<Parts["signInService"]>, c: HttpCall) {
  const [first, ...others] = readCookies(c.req.header("cookie"), ownCookie(wayCookie, c.get("arrival")));
  const url = new URL(c.req.url);
  let person = await service.finish(url, first);
  for (const way of others) if (!person.ok) person = await service.finish(url, way);
  return person;
}

function wayTo(c: HttpCall, value: string, seconds: number): string {
  const { scheme, prefix } = c.get("arrival");
  // A name that only we can give counts at `/` alone.
  const path = scheme === "https" && prefix === "" ? "" : "/sign-in";
  return setCookie(ownCookie(wayCookie, { scheme, prefix }), value, { scheme, prefix, path, seconds });
}

type Asked = { readonly language: Language; readonly next: string };

/** In which language, and where to go afterwards: to a page of ours and nowhere else. */
function askedOf(c: HttpCall, fields: URLSearchParams): Asked {
  const lang = fields.get("lang");
  const next = fields.get("next") ?? "";
  const isOurs = /^\/(?![/\\])[^\\\s]*$/.test(next) && URL.parse(next, "http://here")?.origin === "http://here";
  return {
    language: lang === "zh" || lang === "en" ? lang : c.get("language"),
    next: isOurs ? next : `${c.get("arrival").prefix}/`,
  };
}

async function readForm(request: Request): Promise<Result<URLSearchParams, Failure>> {
  const bytes = await readBytes(request, formBytesMax);
  return bytes.ok ? ok(new URLSearchParams(bytes.value.toString("utf8"))) : bytes;
}
