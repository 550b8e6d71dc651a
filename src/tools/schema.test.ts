import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { plainSchema, signature } from "./schema.ts";
import { builtins } from "./tools.ts";

test("a tool whose argument has no single plain type cannot be defined [R1]", () => {
  const union = z.object({ a: z.union([z.string(), z.number()]) });
  assert.throws(() => plainSchema(z.toJSONSchema(union)), /one plain type/);
});

test("limits and defaults are left out of what is sent, and the order of the words is always the same [R1][L3]", () => {
  const source = z.object({
    count: z.int().min(1).max(5).default(3).describe("How many."),
    names: z.array(z.string()),
  });
  assert.equal(
    JSON.stringify(plainSchema(z.toJSONSchema(source, { io: "input" }))),
    '{"type":"object","properties":{"count":{"type":"integer","description":"How many."},' +
      '"names":{"type":"array","items":{"type":"string"}}},"required":["names"]}',
  );
});

test("the form of the arguments is one line that a model can follow [R1]", () => {
  assert.deepEqual(
    builtins.map((tool) => `${tool.name} ${signature(tool.parameters)}`),
    [
      'compact_context {strategy?: "auto" | "compact" | "summarize"}',
      "find_tools {query: string}",
      "use_tool {name: string, arguments?: string}",
      "ask_human {question: string, context?: string, default?: string, required?: boolean}",
      "now {timezone?: string}",
      "todo_read {}",
      'todo_write {todos: [{content: string, status: "pending" | "in_progress" | "completed", priority?: "low" | "medium" | "high"}, ...]}',
      "read_file {path: string, offset?: integer, column?: integer, limit?: integer}",
      "write_file {path: string, content: string}",
      "edit_file {path: string, old_string: string, new_string: string, replace_all?: boolean}",
      "list_files {path?: string}",
      "find_files {pattern: string, path?: string}",
      "search_file {query: string, path?: string, max_results?: integer, context_chars?: integer, use_regex?: boolean}",
      "get_workspace_info {}",
      'execute_code {code: string, language?: "python" | "bash" | "javascript", timeout?: number, reset?: boolean}',
      "run_bash_command {command: string, timeout?: number}",
      "install_packages {skill: string}",
      "remember {fact: string}",
      "recall {query?: string}",
      "search_history {query: string, max_results?: integer}",
      "delegate_task {task: string, max_loops?: integer}",
      "spawn_agent {role: string, task: string, name?: string, done_when?: string, files?: [string, ...]}",
      "send_message {to: string, text: string, wait_for_answer?: boolean}",
      "terminate_agent {agent_id: string, reason?: string}",
      "fetch_web {url: string, offset?: integer, max_chars?: integer}",
      'http_fetch {method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE", url: string, headers?: string, body?: string}',
      "web_search {query: string, max_results?: integer}",
      "google_search {query: string, max_results?: integer}",
      "jina_reader {url: string}",
    ],
  );
});
