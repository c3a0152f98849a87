import { readFileSync } from "node:fs";
import { createToolset, init } from "tackroom";
import { memory } from "tackroom/env/memory";
import { code } from "./texts.mjs";
const raw = process.env.RAW;
await init(raw ? { search: readFileSync(raw) } : {});
const count = 5000, bytes = 47e6;
const text = code(2_000_000); const lines = text.split("\n"); const files = {}; let at = 0;
for (let nth = 0; nth < count; nth++) {
  const most = (bytes / count) * (0.2 + ((nth * 7919) % 1000) / 625);
  let content = "";
  while (content.length < most) { content += `${lines[at]}\n`; at = (at + 1) % lines.length; }
  if (nth % 500 === 250) content += `const raresNeedle = ${nth};\n`;
  files[`/work/p${nth % 20}/d${nth % 200}/file${nth}.ts`] = new TextEncoder().encode(content);
}
files["/work/.gitignore"] = new TextEncoder().encode("node_modules/\n*.log\n/build/\n");
const env = memory(files, { cwd: "/work" });
const toolset = await createToolset(env, { tools: ["grep", "find"] });
const times = async (name, f, n = 7) => {
  const all = [];
  for (let i = 0; i < n; i++) { const b = process.cpuUsage(); await f(); const { user, system } = process.cpuUsage(b); all.push(Math.round((user + system) / 1000)); }
  console.log(name, all.join(" "));
};
const call = (name, args) => async () => { const r = await toolset.call({ id: "1", name, arguments: args }); if (r.isError) throw new Error(r.content[0].text); };
await times("literal", call("grep", { pattern: "raresNeedle" }));
await times("none", call("grep", { pattern: "quiteUnheardOf" }));
await times("icase", call("grep", { pattern: "RARESNEEDLE", ignoreCase: true }));
await times("regex", call("grep", { pattern: "rares[A-Z]\\w+ = \\d+" }));
await times("find", call("find", { pattern: "*.md" }));
const dec = new TextDecoder(); let s = 0;
await times("js", async () => { for (const c of Object.values(files)) s += /raresNeedle/.test(dec.decode(c)) ? 1 : 0; });
await times("js icase", async () => { for (const c of Object.values(files)) s += /RARESNEEDLE/i.test(dec.decode(c)) ? 1 : 0; });
