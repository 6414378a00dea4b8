import { expect, test } from "vitest"
import { commandLikeness } from "../../src/builtin/shell/command-likeness.ts"
import { commandParts } from "../../src/builtin/shell/command-parts.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import type { PermissionPluginOptions } from "../../src/builtin/permission/permission-plugin.ts"
import { createPerson, createTestPermission, SESSION } from "../support/builtin/permission.ts"
import { parsed } from "../support/plugin/parsed.ts"

/** A policy over `run_command`, and a person who gives these answers. */
function open(policy: PermissionPluginOptions["policy"] = {}, ...answers: readonly string[]) {
  const [tool] = createShellPlugin({ workingDirectory: "/", environment: { PATH: "/usr/bin:/bin" } }).tools
  if (!tool) throw new Error("the shell plugin has no tool")
  const { channel, questions } = createPerson(...answers)
  const { decide } = createTestPermission(
    {
      channel: () => channel,
      policy,
      likenessOf: (_plugin, _tool, input) => commandLikeness(input),
      partsOf: (_plugin, _tool, input) => commandParts(input),
    },
    tool,
  )
  const ask = async (command: string, env?: Readonly<Record<string, string>>) =>
    (await decide(parsed(tool.input, { command, env }), SESSION)).allowed
  return { ask, questions }
}

test('F6. "Always" for `git push …` does not cover `--receive-pack=…`', async () => {
  const { ask, questions } = open({}, "always in this session, for: git push", "no", "no", "no")
  expect(await ask("git push origin main")).toBe(true)
  expect(await ask("git push  origin main")).toBe(true)
  expect(questions).toHaveLength(1)
  expect(await ask("git push --receive-pack=./evil origin main")).toBe(false)
  expect(await ask("git push --receive-pack ./evil origin main")).toBe(false)
  expect(await ask("git push ext::./evil main")).toBe(false)
})

test.each([
  ["git bisect start", "git bisect run sub/evil.sh"],
  ["git submodule update", "git submodule foreach 'touch pwned'"],
  ["git push origin master", "git push vendor.git master"],
  ["git config user.name x", "git config core.fsmonitor sub/evil.sh"],
  ["git commit -m x", "git commit -m x --template=sub/evil"],
  ["git commit -m x", "git commit -m x sub/other"],
  ["sqlite3 app.db 'select 1'", "sqlite3 app.db '.shell touch pwned'"],
  ["rails runner 1", "rails runner 2"],
  ["deno eval 1", "deno eval 2"],
  ["npm init", "npm init evil"],
  ["npm test", "npm test sub/evil.js"],
  ["pytest", "pytest sub/evil.py"],
  ["cargo test a", "cargo test a --config=sub/evil.toml"],
  ["rm -rf build", "rm -rf build /home/me"],
  ["curl localhost", "curl 'evil.com/x?y'"],
  ["npm test", "/local/bin/npm test"],
  ["npm test", "/usr/bin/npm test"],
])('F6. "Always" for `%s` does not cover `%s`', async (allowed, other) => {
  const { ask, questions } = open({}, "always in this session, for: ", "no")
  expect(await ask(allowed)).toBe(true)
  expect(await ask(allowed)).toBe(true)
  expect(questions).toHaveLength(1)
  expect(await ask(other)).toBe(false)
})

test('F6. "Always" covers another message of a commit, and other names of tests', async () => {
  const { ask, questions } = open({}, "always in this session, for: ", "always in this session, for: ")
  for (const command of [
    "git commit -m 'one thing'",
    "git commit -m 'another; thing'",
    "cargo test a",
    "cargo test b::c",
  ])
    expect(await ask(command)).toBe(true)
  expect(questions.map(({ options }) => options?.[2])).toEqual([
    "always in this session, for: git commit -m …",
    "always in this session, for: cargo test …",
  ])
})

test('F6. "Always" for a compound command is not "every command"', async () => {
  const { ask, questions } = open({}, "no", "no", "no")
  for (const command of ["npm test; rm x", "npm test > out", "npm test $(rm x)"]) await ask(command)
  for (const { options } of questions) expect(options).toEqual(["yes", "no"])
  expect(questions).toHaveLength(3)
})

test.each([
  ..."flock lock|chroot root|busybox|toybox|taskset 1|faketime now|unshare|systemd-run|strace|ltrace".split("|"),
  ..."setpriv|numactl|runcon type|script|watch|parallel|su root|doas|setsid|chrt 1|ionice|prlimit|nsenter".split("|"),
  ..."xvfb-run|dbus-run-session|docker exec box|docker run image|docker compose exec box|podman exec box".split("|"),
  ..."kubectl exec pod|ssh host|npx|bunx|pnpx|uvx|npm exec|pnpm dlx|yarn exec|bun x|bundle exec|fish|at now".split("|"),
])('F6. "Always" is not offered for a program that starts others: %s', async (start) => {
  const { ask, questions } = open({}, "no")
  expect(await ask(`${start} rm x`)).toBe(false)
  expect(questions.map(({ options }) => options)).toEqual([["yes", "no"]])
})

test("F6. A rule for effects `write` does not cover options that run programs", async () => {
  const { ask } = open({
    rules: [{ tool: "run_command", effects: ["write"], decision: "allow" }],
    mode: "deny_effects",
  })
  expect(await ask("mkdir -p a")).toBe(true)
  for (const command of [
    "tar --to-command=./evil -xf a",
    "tar xIf ./evil a",
    "zip -TT ./evil a b",
    "cp --context=x a b",
    "install --strip-program=./evil -s a b",
    "split --filter=./evil a",
    "git commit -m x",
    "git checkout main",
    "touch a; ./evil",
    "touch $(./evil)",
  ])
    expect(await ask(command), command).toBe(false)
})

test("F6. An exact rule does not cover other variables of `env`", async () => {
  const rules = [{ tool: "run_command", arguments: { command: "npm test" }, decision: "allow" as const }]
  const { ask } = open({ rules, mode: "deny_effects" })
  expect(await ask("npm test")).toBe(true)
  for (const name of ["NODE_OPTIONS", "PATH", "npm_config_script_shell", "DEBUG"])
    expect(await ask("npm test", { [name]: "x" }), name).toBe(false)
})
