import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { createFolder } from "../support/workplace.ts"
import { openSubagents, requestsOf, resultsIn, spawn, toldTo, WORKER } from "../support/session/open-subagents.ts"

/** Offered to every subagent with tools. */
const FOR_ALL = new Set(["finish", "report_progress"])

/** The subagent's other tools. */
const toolsBelow = ({ provider }: Pick<Awaited<ReturnType<typeof openSubagents>>, "provider">) =>
  requestsOf(provider, "below")[0]?.tools.flatMap(({ name }) => (FOR_ALL.has(name) ? [] : [name]))

test("a profile narrows the tools, and never gives what the parent lacks", async () => {
  const profiles = [{ ...WORKER, tools: ["read", "write"] }]
  const opened = await openSubagents({ main: [spawn("Work."), "Done."], below: ["Worked."], profiles })
  const session = await opened.runtime.createSession({ tools: ["subagent", "read"] })
  await session.send("Go.")
  expect(toolsBelow(opened)).toEqual(["read"])
})

test("a profile cannot widen the tools by the name of a plugin", async () => {
  const profiles = [{ ...WORKER, tools: ["files"] }]
  const opened = await openSubagents({ main: [spawn("Work."), "Done."], below: ["Worked."], profiles })
  const session = await opened.runtime.createSession({ tools: ["spawn_subagent", "write"] })
  await session.send("Go.")
  expect(toolsBelow(opened)).toEqual(["write"])
})

test("without tools of its own a subagent has those of its parent", async () => {
  const opened = await openSubagents({ main: [spawn("Work."), "Done."], below: ["Worked."] })
  const session = await opened.runtime.createSession({ tools: ["spawn_subagent", "write"] })
  await session.send("Go.")
  expect(toolsBelow(opened)).toEqual(["spawn_subagent", "write"])
})

test("a profile with tools that nobody knows is refused with near names", async () => {
  const { session } = await openSubagents({
    main: [spawn("Work."), "Oh."],
    profiles: [{ ...WORKER, tools: ["reed"] }],
  })
  await session.send("Go.")
  expect(toldTo(session)[0]).toMatch(/these tools, because they do not exist: reed\. Did you mean read/)
})

test("an unknown profile is refused with near names", async () => {
  const { session } = await openSubagents({ main: [spawn("Work.", { profile: "worke" }), "Oh."] })
  await session.send("Go.")
  expect(toldTo(session)[0]).toBe('There is no profile "worke". Did you mean worker?')
})

for (const isKept of [true, false]) {
  const where = isKept ? "kept" : "in memory"

  test(`a fourth level of subagents is refused, and the model reads why (${where})`, async () => {
    const deeper = { calls: [{ tool: "spawn_subagent", input: { task: "Go deeper." } }] }
    const main = [deeper, deeper, deeper, deeper, "4", "3", "2", "1"]
    const { provider, session } = await openSubagents({ isKept, main })
    await session.send("Go deep.")
    const requests = requestsOf(provider, "main")
    const refused = requests.find(({ messages }) => resultsIn(messages).some(({ isError }) => isError))
    expect(JSON.stringify(refused?.messages)).toContain("An agent here would be 4 levels deep; at most 3 are allowed.")
    expect(requests).toHaveLength(8)
  })

  test(`more subagents at once than the fan-out allows are refused (${where})`, async () => {
    const gate = Promise.withResolvers<void>()
    const calls = [1, 2].map((part) => ({ tool: "spawn_subagent", input: { task: `part ${part}`, profile: "worker" } }))
    const { session } = await openSubagents({
      isKept,
      main: [{ calls }, spawn("Work."), "Done."],
      below: [{ gate: gate.promise, text: "Worked." }, "Worked again."],
      background: { maxAgentFanOut: 1 },
    })
    session.on((event) => event.type === "tool_call.ended" && gate.resolve())
    await session.send("Go.")
    expect(resultsIn(session.history()).map(({ isError }) => isError)).toEqual([false, true, false])
    expect(toldTo(session)[1]).toContain("at most 1 are allowed")
  })
}

test("the calls of a subagent need permission like any other call", async () => {
  const { provider, session } = await openSubagents({
    main: [spawn("Work."), "Done."],
    below: [{ calls: [{ tool: "write" }] }, "I was not allowed to."],
    permissions: { rules: [{ tool: "write", decision: "deny", reason: "nobody writes here" }] },
  })
  await session.send("Go.")
  const results = resultsIn(requestsOf(provider, "below")[1]?.messages ?? [])
  expect(results).toMatchObject([{ tool: "write", isError: true }])
  expect(JSON.stringify(results)).toContain("nobody writes here")
})

test("profiles are read from files, and one that is broken is listed with its problem", async () => {
  const directory = join(createFolder(), "profiles")
  mkdirSync(directory)
  const head = "---\ndescription: Reads.\nmodel: script/below\ntools: [read]\n---\n"
  writeFileSync(join(directory, "reader.md"), `${head}Read well.`)
  writeFileSync(join(directory, "broken.md"), "---\nmodel: nothing\n---\nHello.")
  writeFileSync(join(directory, "listed.md"), "---\ntools:\n  - read\n---\nHello.")
  const opened = await openSubagents({
    main: [{ calls: [{ tool: "list_subagent_profiles" }] }, spawn("Work.", { profile: "reader" }), "Done."],
    below: ["Read."],
    profiles: [],
    directories: [directory, join(directory, "none")],
  })
  const { provider, session } = opened
  await session.send("Go.")
  const shown = await session.runCommand("profiles")
  expect(shown).toContain("- reader: Reads. (model: script/below; tools: read)")
  expect(shown).toMatch(/broken\.md: model: must be "provider\/name"/)
  expect(shown).toMatch(/listed\.md: `tools` is empty; write them in one line/)
  expect(toldTo(session)[0]).toBe(shown)
  expect(requestsOf(provider, "below")[0]?.system).toContain("Read well.")
  expect(toolsBelow(opened)).toEqual(["read"])
})

test("the first folder's profile counts, and the second of the name is told of", async () => {
  const folder = createFolder()
  for (const [name, text] of [["a", "First."] as const, ["b", "Second."] as const]) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, "same.md"), text)
  }
  const { session } = await openSubagents({
    main: [],
    profiles: [],
    directories: [join(folder, "a"), join(folder, "b")],
  })
  expect(await session.runCommand("profiles")).toBe(
    "- same: First.\nThese cannot be used:\n- there is a second profile named same; the first counts",
  )
})

test("where there is no profile, the list says where to write one", async () => {
  const folder = join(createFolder(), "profiles")
  const { session } = await openSubagents({ main: [], profiles: [], directories: [folder] })
  expect(await session.runCommand("profiles")).toBe(
    `There are no profiles. To add one, write its instructions into a file NAME.md in ${folder}.`,
  )
})

test("folders of profiles are absolute", () => {
  expect(() => createSubagentPlugin({ directories: ["profiles"] })).toThrow(/absolute directories only/)
})
