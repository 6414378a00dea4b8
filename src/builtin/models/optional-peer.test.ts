import { expect, test } from "vitest"
import { loadPeer } from "./optional-peer.ts"

const peer = { name: "@meanwhile/never-published", version: "5", need: "Models of nobody" }
const unfound = (text: string) => Object.assign(new Error(text), { code: "ERR_MODULE_NOT_FOUND" })

test("a package that is not installed is asked for in one sentence with the command", async () => {
  const error = unfound("Cannot find package '@meanwhile/never-published' imported from /here.js")
  await expect(loadPeer(peer, () => Promise.reject(error))).rejects.toMatchObject({
    code: "plugin_unavailable",
    message:
      "Models of nobody need the package @meanwhile/never-published, which is not installed: npm install @meanwhile/never-published@5",
    details: { package: "@meanwhile/never-published" },
  })
})

test("what a package lacks itself is said as it is", async () => {
  const error = unfound("Cannot find package 'other' imported from /node_modules/@meanwhile/never-published/index.js")
  await expect(loadPeer(peer, () => Promise.reject(error))).rejects.toBe(error)
})
