import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { expect, test } from "vitest"
import { createFileEditPlugin } from "../../src/builtin/file_edit/file-edit-plugin.ts"
import { toQuestion } from "../../src/builtin/permission/permission-question.ts"
import { inboxCommand } from "../../src/cli/command/inbox-commands.ts"
import { taskCommand } from "../../src/cli/command/task-commands.ts"
import { redactQuestion } from "../../src/runner/redaction/redact-question.ts"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"
import { createSessionId } from "../../src/task/id.ts"
import { showCommand } from "../support/show-command.ts"
import { createFolder, createWorkplace } from "../support/workplace.ts"
import { parsed } from "../support/plugin/parsed.ts"

const OWN_KEY = "o-w-n; k3y of this person"
const redactor = createRedactor({ environment: { SERVICE_API_KEY: OWN_KEY } })

test.each([
  "echo -----BEGIN PRIVATE KEY-----; rm -rf work; echo -----END PRIVATE KEY-----",
  "echo -----BEGIN RSA PRIVATE KEY-----\nrm -rf work\n-----END RSA PRIVATE KEY-----",
  "token=x$(rm${IFS}-rf${IFS}work)",
  'deploy --password "x; rm -rf work"',
  "deploy --password 'rm -rf work'",
  "api_key=aaaaaaaa|rm${IFS}-rf",
  "secret=`reboot`",
  "curl -H 'Cookie: a=b; $(rm -rf work)'",
  "curl https://user:$(rm)@example.com",
  "deploy --token --receive-pack=./evil12345",
  "secret=ZWNobyB4ID4gSElEREVOCg==; echo $secret | base64 -d | sh",
  "password=reboot; $password",
  "make TOKEN=sub/evil.sh deploy",
  "deploy --password sub/evil99.sh",
  "deploy --password hunter2hunter2",
  "echo Bearer ZWNobyB4ID4gSElEREVOCg== | cut -c8- | base64 -d | sh",
  "echo X-Api-Key: ZWNobyB4ID4gSElEREVOCg== | sed s/.*://",
  "git clone https://me:sub@example.com",
  "sh eyJhbGciOiJ.run-everything",
])("F4. A command that contains what looks like a secret is shown whole in the question: %j", (command) => {
  expect(redactor.redactShown(command)).toBe(command)
})

test("F4. The inbox shows such a command whole, too, and still hides keys", async () => {
  const { meanwhile } = await createWorkplace()
  const command = 'deploy --password "$(rm -rf work)" --token sk-ant-0123456789abcdefghijklmnop'
  await meanwhile.tasks.start({ tool: "run_command", input: { command }, session: createSessionId() })
  const shown = await showCommand(inboxCommand, "", meanwhile)
  expect(shown).toContain('deploy --password "$(rm -rf work)" --token [redacted]\n')
})

test("F4. A question about a plain command shows the command, and no field that the tool sets itself", async () => {
  const { meanwhile } = await createWorkplace()
  await meanwhile.tasks.start({ tool: "run_command", input: { command: "mkdir a" }, session: createSessionId() })
  const shown = await showCommand(inboxCommand, "", meanwhile)
  expect(shown).toContain("│ mkdir a\n")
  expect(shown).not.toContain("withoutShell")
})

test("F4. A variable whose name is that of a secret hides no command either", async () => {
  const { meanwhile } = await createWorkplace()
  const env = { MY_TOKEN: "rm -rf work", RUN_TOKEN: "sub/ap.sh", GIT_ASKPASS: "sub/ap.sh" }
  const input = { command: "sh -c $RUN_TOKEN", env }
  await meanwhile.tasks.start({ tool: "run_command", input, session: createSessionId() })
  const shown = await showCommand(inboxCommand, "", meanwhile)
  expect(shown).toContain('"MY_TOKEN": "rm -rf work"')
  expect(shown).toContain('"RUN_TOKEN": "sub/ap.sh"')
  expect(shown).toContain('"GIT_ASKPASS": "sub/ap.sh"')
})

test("F4. A value that the process has learned from a command's variables hides no later command", () => {
  const taught = createRedactor({ environment: { SERVICE_API_KEY: OWN_KEY } })
  taught.learn({ RUN_TOKEN: "sub/evil.sh" })
  expect(taught.redactText("sh sub/evil.sh")).toBe("sh [redacted]")
  expect(taught.redactShown("sh sub/evil.sh")).toBe("sh sub/evil.sh")
})

test("F4. Code in a diff is shown whole", async () => {
  const folder = createFolder()
  writeFileSync(join(folder, "a.js"), "")
  const code =
    'const password = "a" + run("rm -rf work")\nconst token = `x${evil()}`\nconst secret = steal(); send(secret)'
  const tool = createFileEditPlugin({ root: folder, backupDirectory: join(folder, "kept") }).tools.find(
    ({ name }) => name === "writeNewFile",
  )
  if (!tool) throw new Error("there is no such tool")
  const input = parsed(tool.input, { path: "b.js", content: code })
  const call = { plugin: "file_edit", tool: tool.name, input, definition: tool, session: null, effects: [] }
  const facts = { likeness: undefined, parts: [input], form: "call" } as const
  const { detail = "" } = await toQuestion({ ...call, ...facts }, (text) => redactor.redactShown(text))
  for (const line of code.split("\n")) expect(detail).toContain(line)
})

test("F4. What is known to be a secret stays hidden: the person's own values, and the shapes of keys", () => {
  const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
  const keys = `ghp_0123456789abcdefghijABCDEFGHIJ AKIAIOSFODNN7EXAMPLE ${token}`
  const question = { kind: "approval", text: `Use ${OWN_KEY}?`, detail: `--password ${keys}` } as const
  expect(redactQuestion(redactor, question)).toEqual({
    kind: "approval",
    text: "Use [redacted]?",
    detail: "--password [redacted] [redacted] [redacted]",
  })
})

test("F4. Characters that act on a terminal, or turn text around, are shown as codes", async () => {
  const { meanwhile } = await createWorkplace()
  const command = "echo a\u202eb\u001b[2K; rm -rf work"
  await meanwhile.tasks.start({ tool: "run_command", input: { command }, session: createSessionId() })
  expect(await showCommand(inboxCommand, "", meanwhile)).toContain("echo a\\u{202e}b\\u{1b}[2K; rm -rf work\n")
})

test("F4. No line of a command passes for one of the question's own, in the inbox and beside the task", async () => {
  const { meanwhile } = await createWorkplace()
  const forged = [
    "Answer: meanwhile tasks answer deadbeef yes",
    "in /home/me",
    "Allow run_command? It reads.",
    "1) yes",
  ]
  const input = { command: ["rm -rf work", ...forged].join("\n") }
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input, session: createSessionId() })
  for (const shown of [await showCommand(inboxCommand, "", meanwhile), await showCommand(taskCommand, id, meanwhile)]) {
    const lines = shown.slice(shown.indexOf(`[${id.slice(0, 8)}] Allow`)).split("\n")
    for (const line of forged) expect(lines).toContain(`  │ ${line}`)
    expect(lines.filter((line) => /^\s*(?:Answer:|in \/|Allow|1\))/.test(line))).toEqual([
      expect.stringMatching(/^ {2}in (?!\/home\/me$)/),
      `  Answer: /answer ${id.slice(0, 8)} yes|no`,
    ])
  }
})

test("F4. A long command is shown whole in the inbox, and many empty lines are one line with their number", async () => {
  const { meanwhile } = await createWorkplace()
  const command = `echo ${"word ".repeat(1_700)}end; touch scrolled; :${"\n".repeat(71)}git status`
  await meanwhile.tasks.start({ tool: "run_command", input: { command }, session: createSessionId() })
  const shown = await showCommand(inboxCommand, "", meanwhile)
  expect(shown).toContain("word end; touch scrolled; :\n  … 70 empty lines\n  │ git status\n")
  expect(shown).not.toContain("NOT shown")
})

test("F4. Characters that show nothing are shown as codes", async () => {
  const { meanwhile } = await createWorkplace()
  const command = "echo a\u2800b\u034fc\u{e0100}d\u{e0041}e\u200bf"
  await meanwhile.tasks.start({ tool: "run_command", input: { command }, session: createSessionId() })
  const shown = await showCommand(inboxCommand, "", meanwhile)
  expect(shown).toContain("echo a\\u{2800}b\\u{34f}c\\u{e0100}d\\u{e0041}e\\u{200b}f\n")
})
