import { handBack, defineTool } from "../../../src/plugin/tool.ts"
import { z } from "zod"
import { openReporting, tasksOf, waitForEnds } from "./reporting.ts"

const OFF = { reports: { enabled: false } } as const

/** A tool that ends after the turn that starts it: during the turn its result would be told at the next tool boundary. */
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

/** An agent whose tool `survey` has ended in the background, with a result that nothing has used. */
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
