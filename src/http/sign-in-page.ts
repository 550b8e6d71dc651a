import { createHash } from "node:crypto";
import { type Language, wordsFor } from "../words/words.ts";

/** What stands on the page. */
export type SignInView = {
  readonly language: Language;
  /** The path below which we are served. */
  readonly prefix: string;
  /** Where to go afterwards. */
  readonly next: string;
  /** The button of the sign-in service, if there is one. */
  readonly service: string | undefined;
  /** A link that waits to be used, and for whom. */
  readonly link: { readonly token: string; readonly user: string } | undefined;
  /** What went wrong, in words. */
  readonly said: string | undefined;
  /** Whom to try again as. */
  readonly user: string;
  readonly usersExist: boolean;
};

/** A page without scripts: it works in every browser, and nothing on it can be talked into anything. */
export function signInPage(view: SignInView): string {
  const words = wordsFor(view.language).signIn;
  const { language, prefix, said } = view;
  return `<!doctype html>
<html lang="${language === "zh" ? "zh-CN" : "en"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${words.title} · AgentYard</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>AgentYard</h1>
${said === undefined ? "" : `<p role="alert" id="said">${escaped(said)}</p>`}
${formOf(view)}
<p><a href="${prefix}/sign-in?${otherLanguage(view)}" lang="${language === "zh" ? "en" : "zh-CN"}">${words.otherLanguage}</a></p>
</main>
</body>
</html>
`;
}

/** Nothing comes from elsewhere, nothing is run, and no other page may show this one. */
export const signInPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(styleText()).digest("base64")}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

function formOf(view: SignInView): string {
  const words = wordsFor(view.language).signIn;
  const { prefix, next, link, service, user, said, usersExist, language } = view;
  const hidden = `<input type="hidden" name="next" value="${escaped(next)}"><input type="hidden" name="lang" value="${language}">`;
  const open = `<form method="post" action="${prefix}/sign-in">${hidden}`;
  if (link !== undefined)
    return `${open}<p>${escaped(words.byLink({ user: link.user }))}</p>
<input type="hidden" name="link" value="${escaped(link.token)}">
<button>${words.goOn}</button></form>`;
  if (!usersExist) return `<p>${words.noUsers}</p>`;
  const described = said === undefined ? "" : ' aria-describedby="said" aria-invalid="true"';
  const password = `${open}
<label for="user">${words.user}</label>
<input id="user" name="user" autocomplete="username" autocapitalize="none" spellcheck="false" required value="${escaped(user)}"${described}>
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${described}>
<button>${words.submit}</button></form>`;
  if (service === undefined) return password;
  const there = `${prefix}/sign-in/oidc?next=${encodeURIComponent(next)}`;
  return `${password}\n<p><a class="button" href="${escaped(there)}">${escaped(words.byService({ name: service }))}</a></p>`;
}

function otherLanguage({ language, next, link }: SignInView): string {
  const lang = language === "zh" ? "en" : "zh";
  return escaped(new URLSearchParams({ lang, next, ...(link && { link: link.token }) }).toString());
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function styleText(): string {
  return `:root{color-scheme:light dark;--line:#767676;--go:#0b57d0;--on:#fff}
@media(prefers-color-scheme:dark){:root{--line:#9a9a9a;--go:#a8c7fa;--on:#062e6f}}
body{font:1rem/1.5 system-ui,sans-serif;margin:0;display:grid;min-height:100vh;place-items:center}
main{width:min(22rem,90vw)}
label{display:block;margin:1rem 0 .25rem}
input{width:100%;box-sizing:border-box;font:inherit;padding:.6rem;border:1px solid var(--line);border-radius:.4rem}
button,.button{display:block;width:100%;box-sizing:border-box;margin-top:1.5rem;padding:.7rem;font:inherit;text-align:center;border:1px solid var(--go);border-radius:.4rem;background:var(--go);color:var(--on);text-decoration:none;cursor:pointer}
.button{background:none;color:var(--go)}
:focus-visible{outline:3px solid var(--go);outline-offset:2px}
[role=alert]{border-left:4px solid #c5221f;padding-left:.75rem}`;
}

const style = styleText();
