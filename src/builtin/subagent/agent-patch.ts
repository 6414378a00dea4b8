import { type JsonObject, toJson } from "../../base/json.ts"
import { toOneLine } from "../../base/one-line.ts"
import type { AgentAnswer } from "../../plugin/agent-request.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { ChildTurn } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import type { ArtifactReference, Patch } from "../../task/patch.ts"
import { finishSchema, type HandedBack } from "./finish-tool.ts"
import { shorten } from "../../base/shorten.ts"

const DIGEST_CHARACTERS = 400

/** The patch of an agent's run: the input of its `finish` call, and its last text. */
export async function toAgentPatch(context: ToolContext, session: SessionId, turn: ChildTurn): Promise<Patch> {
  const { text, usage, handedBack, budgetEnd } = turn
  const given = handedBack ? (finishSchema().safeParse(handedBack).data ?? {}) : {}
  const artifacts = await keepArtifacts(context, given)
  const { digest = [], facts = {}, nextSteps = [] } = given
  const payload: AgentAnswer & JsonObject = {
    answer: text,
    session,
    usage: { ...usage },
    ...(budgetEnd !== null && { endedBecause: budgetEnd }),
    ...toParts(given, artifacts),
  }
  return {
    digest: (digest.length > 0 ? digest : [text]).map((line) => toLine(line, DIGEST_CHARACTERS)).filter(Boolean),
    facts: toJson(facts) as JsonObject,
    artifacts,
    nextSteps,
    payload,
  }
}

/** The caller that waits for the agent reads the payload alone. */
function toParts({ digest, facts, nextSteps, payload }: HandedBack, artifacts: readonly ArtifactReference[]) {
  return {
    ...(digest && digest.length > 0 && { digest }),
    ...(facts && { facts: toJson(facts) }),
    ...(artifacts.length > 0 && { artifacts: artifacts.map((artifact) => ({ ...artifact })) }),
    ...(nextSteps && nextSteps.length > 0 && { nextSteps }),
    ...(payload !== undefined && { payload: toJson(payload) }),
  }
}

function keepArtifacts(context: ToolContext, { artifacts = [] }: HandedBack): Promise<readonly ArtifactReference[]> {
  const encoder = new TextEncoder()
  return Promise.all(
    artifacts.map(({ name, mediaType, text }) => context.artifacts.put(name, mediaType, encoder.encode(text))),
  )
}

export function toLine(text: string, longest: number): string {
  return shorten(toOneLine(text), longest)
}
