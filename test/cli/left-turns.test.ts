import { PassThrough } from "node:stream"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createLeftTurns } from "../../src/cli/chat/left-turns.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createLineScreen } from "../../src/cli/screen/create-screen.ts"
import { createTask, QUEUED } from "../../src/engine/suite/samples.ts"
import { createSessionId } from "../../src/task/id.ts"
import { createFolder } from "../support/workplace.ts"

test("a chat that runs no tasks neither names nor waits for a turn that was cut off in another conversation", async () => {
  const runtime = await createRuntime({ dataDirectory: createFolder(), background: { maxConcurrentTasks: 0 } })
  onTestFinished(() => runtime.close())
  await createTask(runtime.engine, QUEUED, { kind: "turn", session: createSessionId(), title: "Theirs." })
  const { id } = await runtime.createSession()
  await createTask(runtime.engine, QUEUED, { kind: "turn", session: id, title: "Ours." })
  let shown = ""
  const output = new PassThrough().setEncoding("utf8").on("data", (text: string) => (shown += text))
  const leftTurns = createLeftTurns(runtime.desk(LOCAL_PERSON), createLineScreen(output))
  await leftTurns.tell(id)
  expect(shown).toBe("A turn from before goes on: Ours.\n")
  expect(leftTurns.sessions().size).toBe(1)
  const leaving = new AbortController()
  const ended = leftTurns.allEnded(leaving.signal)
  leaving.abort()
  await ended
  leftTurns.close()
})
