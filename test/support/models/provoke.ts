import { inspect } from "node:util"
import { expect } from "vitest"
import { MeanwhileError } from "../../../src/base/error.ts"
import { userMessage } from "../../../src/plugin/message.ts"
import type { ConnectedModel, ModelRequest } from "../../../src/plugin/model.ts"
import { createStreamServer, type StreamAnswer } from "./stream-server.ts"
import { type Api, KEY, MODELS, toRequest } from "./wire.ts"

const SECRET_WORDS = "a private matter of the person"

/** Fails unless the error is a MeanwhileError that contains neither key nor request, at any depth. */
export async function catchError(model: ConnectedModel, more: Partial<ModelRequest> = {}): Promise<MeanwhileError> {
  const error: unknown = await model
    .generate(toRequest([userMessage(SECRET_WORDS)], more))
    .catch((error: unknown) => error)
  if (!(error instanceof MeanwhileError)) throw new Error(`not refused: ${inspect(error)}`)
  const everything = `${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error.details)} ${error.stack}`
  expect(everything).not.toContain(KEY)
  expect(everything).not.toContain(KEY.slice(0, 12))
  expect(everything).not.toContain(SECRET_WORDS)
  expect(error.message).toContain(model.id)
  return error
}

export async function provoke(api: Api, answer: StreamAnswer): Promise<MeanwhileError> {
  const { connect } = await createStreamServer(answer)
  return catchError(await connect(MODELS[api]))
}
