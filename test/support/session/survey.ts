import { handBack, defineTool } from "../../../src/plugin/tool.ts"
import { z } from "zod"
import { openReporting, tasksOf, waitForEnds } from "./reporting.ts"

const OFF = { reports: { enabled: false } } as const

/** It ends when the turn that starts it is over: in it, its result would be told at once. */
const createSurvey = (isTurnOver: Promise<void>) =>
  defineTool({
    name: "survey",
    description: "Looks around.",
    input: z.object({}),
    background: { mode: "always" },
    async run(_input, { artifacts }) {
      await isTurnOver
      const map = await artifacts.put("map", "text/plain", new TextEncoder().encode("x marks the spot"))
      return handBack({
        digest: ["Found a treasure."],
        facts: { depth: 3 },
        artifacts: [map],
        nextSteps: ["dig", "rest"],
        payload: { treasure: "p".repeat(5_000) },
      })
    },
  })

/** It has looked around in the background, and nobody has used what it found. */
export async function openSurvey(isKept = true) {
  const turn = Promise.withResolvers<void>()
  const agent = await openReporting([{ calls: [{ tool: "survey" }] }, "It runs.", "I see.", "Nothing."], {
    ...OFF,
    isKept,
    tools: [createSurvey(turn.promise)],
  })
  await agent.session.send("look around")
  turn.resolve()
  await waitForEnds(agent, await tasksOf(agent))
  return agent
}
