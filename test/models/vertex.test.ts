import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { createModelProviders } from "../../src/builtin/models/model-providers.ts"
import { userMessage } from "../../src/plugin/message.ts"
import { createFolder } from "../support/workplace.ts"
import { toRequest } from "../support/models/wire.ts"

/** Google's own credentials, of a kind that names where tokens come from: a server here. */
async function useCredentials(): Promise<void> {
  const folder = createFolder()
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({
          access_token: "ya29.from-here",
          expires_in: 3600,
          token_type: "Bearer",
          issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        }),
      )
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(
    () => new Promise<void>((resolve) => void (server.closeAllConnections(), server.close(() => resolve()))),
  )
  const { port } = server.address() as AddressInfo
  const subject = join(folder, "subject")
  writeFileSync(subject, "a subject token")
  const credentials = join(folder, "credentials.json")
  writeFileSync(
    credentials,
    JSON.stringify({
      type: "external_account",
      audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/p",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `http://127.0.0.1:${port}/token`,
      credential_source: { file: subject },
    }),
  )
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", credentials)
  // Otherwise the credentials' library asks Google for one.
  vi.stubEnv("GOOGLE_CLOUD_PROJECT", "elsewhere")
  onTestFinished(() => void vi.unstubAllEnvs())
}

const PLACE = "projects/my-project/locations/us-central1/publishers"

test("004-09: the project and the location of Vertex are on the wire, with Google's own credentials", async () => {
  await useCredentials()
  const asked: { readonly url: string; readonly token: string | null }[] = []
  const plugins = createModelProviders({
    environment: {},
    providers: { vertex: { project: "my-project", location: "us-central1" } },
    fetch: async (input, init) => {
      const token = new Headers(init?.headers).get("authorization")
      asked.push({ url: input instanceof Request ? input.url : String(input), token })
      return Response.json({ error: { message: "no" } }, { status: 400 })
    },
  })
  const provider = plugins.find(({ name }) => name === "vertex")
  for (const name of ["gemini-2.5-flash", "claude-opus-4-1"]) {
    const model = await provider?.connect(name)
    await expect(model?.generate(toRequest([userMessage("hi")]))).rejects.toMatchObject({ code: "model_refused" })
  }
  const host = "https://us-central1-aiplatform.googleapis.com"
  const token = "Bearer ya29.from-here"
  expect(asked).toEqual([
    { url: `${host}/v1beta1/${PLACE}/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`, token },
    { url: `${host}/v1/${PLACE}/anthropic/models/claude-opus-4-1:streamRawPredict`, token },
  ])
})
