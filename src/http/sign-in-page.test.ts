import assert from "node:assert/strict";
import { test } from "node:test";
import { type SignInView, signInPage, signInPolicy } from "./sign-in-page.ts";

const view: SignInView = {
  ...{ language: "en", prefix: "/yard", next: "/yard/c/1?a=b&c=d", service: undefined, link: undefined },
  ...{ said: undefined, user: "", usersExist: true },
};
const next = "/yard/c/1?a=b&#38;c=d";
const kept = (lang: string) =>
  `<form method="post" action="/yard/sign-in"><input type="hidden" name="next" value="${next}"><input type="hidden" name="lang" value="${lang}">`;
const query = new URLSearchParams({ next: view.next }).toString().replaceAll("&", "&#38;");

test("who signs in comes to where they wanted to go, by every way and in either language [C6][P4]", () => {
  const page = signInPage(view);
  assert.ok(page.includes(kept("en")), page);
  assert.ok(page.includes(`<a href="/yard/sign-in?lang=zh&#38;${query}" lang="zh-CN">`), page);
  const chinese = signInPage({ ...view, language: "zh" });
  assert.ok(chinese.includes(kept("zh")), chinese);
  assert.ok(chinese.includes(`<a href="/yard/sign-in?lang=en&#38;${query}" lang="en">`), chinese);
  const byLink = signInPage({ ...view, link: { token: "t-1", user: "<Ann>" }, usersExist: false });
  assert.ok(byLink.includes(kept("en")) && byLink.includes('<input type="hidden" name="link" value="t-1">'), byLink);
  assert.ok(byLink.includes(`lang=zh&#38;${query}&#38;link=t-1"`), byLink);
  const byService = signInPage({ ...view, service: "A & B" });
  const there = `/yard/sign-in/oidc?next=${encodeURIComponent(view.next)}`;
  assert.ok(byService.includes(`<a class="button" href="${there}">`) && byService.includes("A &#38; B"), byService);
  assert.ok(byService.includes('name="password"'), "and by password still");
});

test("what went wrong is said where it is heard, beside the name that was tried, and nothing of it is markup [C6][Q1]", () => {
  const page = signInPage({ ...view, said: `<b>"no"</b>`, user: "a'b" });
  assert.ok(page.includes('<p role="alert" id="said">&#60;b&#62;&#34;no&#34;&#60;/b&#62;</p>'), page);
  assert.equal(page.split(' aria-describedby="said" aria-invalid="true"').length, 3);
  assert.ok(page.includes('value="a&#39;b"'), page);
  assert.ok(!signInPage(view).includes("aria-invalid"));
  assert.match(
    signInPolicy,
    /^default-src 'none'; style-src 'sha256-[^']{44}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  );
});
