import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import type { JsonValue } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { EnrichmentContext } from "../../plugin/prompt-enrichment.ts"
import { contentOf } from "../../plugin/tool.ts"
import { createMultimodalPlugin } from "./multimodal-plugin.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")
let root: string

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-multimodal-"))
  root = join(folder, "root")
  mkdirSync(join(root, "a"), { recursive: true })
  mkdirSync(join(root, "@scope"))
  writeFileSync(join(folder, "outside.png"), PNG)
  writeFileSync(join(root, "photo.png"), PNG)
  writeFileSync(join(root, "a", "my notes.md"), "# Notes\n")
  writeFileSync(join(root, "data.bin"), Buffer.from([0, 1, 2]))
  writeFileSync(join(root, "fake.png"), "just text")
  symlinkSync(join(folder, "outside.png"), join(root, "link.png"))
  symlinkSync(join(root, "photo.png"), join(root, "inner.png"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

const enrich = async (prompt: string) => createMultimodalPlugin({ root }).enrichPrompt?.(prompt, { session: null })

async function view(path: string) {
  const [tool] = createMultimodalPlugin({ root }).tools
  const returned = await tool?.run(parsed(tool.input, { path }), {} as ToolContext)
  return contentOf((returned as { readonly patch: { readonly payload: JsonValue } }).patch.payload)
}

describe("a file named in a prompt", () => {
  it("loses its @ and is described with the tool that reads it, once", async () => {
    expect(await enrich('What is in @photo.png, and @"a/my notes.md"? Compare @./photo.png with @data.bin.')).toEqual({
      prompt:
        'What is in photo.png, and "a/my notes.md"? Compare ./photo.png with data.bin.\n\n' +
        "Files named above, not loaded yet:\n" +
        '- "photo.png": image/png, 16 bytes; read it with viewImage\n' +
        '- "a/my notes.md": text/markdown, 8 bytes; read it with readFile\n' +
        '- "data.bin": application/octet-stream, 3 bytes; no tool reads it',
      metadata: {
        files: [
          { path: "photo.png", bytes: 16, mediaType: "image/png", tool: "viewImage" },
          { path: "a/my notes.md", bytes: 8, mediaType: "text/markdown", tool: "readFile" },
          { path: "data.bin", bytes: 3, mediaType: "application/octet-stream", tool: null },
        ],
      },
    })
  })

  it("is known by its content, not by its name", async () => {
    expect((await enrich("@fake.png"))?.prompt).toContain('"fake.png": text/plain, 9 bytes; read it with readFile')
  })

  it.each([
    "write to me@example.com",
    "me@photo.png",
    "npm install @scope/package",
    "the @Component decorator",
    "@missing.png",
    "@a is a folder",
    "@../outside.png",
    "@link.png leads outside",
    "@",
    '@""',
    "@/etc/passwd",
    "@photo.png\0",
  ])("is none in: %j", async (prompt) => {
    expect(await enrich(prompt)).toEqual({ prompt })
  })

  it("is found between brackets and at the end of a sentence", async () => {
    expect((await enrich("see (@photo.png)."))?.prompt).toMatch(/^see \(photo\.png\)\.\n/)
    expect((await enrich("@scope/x and @photo.png!?"))?.prompt).toMatch(/^@scope\/x and photo\.png!\?\n/)
  })

  it("is not waited for when it is a pipe", async () => {
    execFileSync("sh", ["-c", `mkfifo "$1"`, "sh", join(root, "pipe")])
    expect(await enrich("@pipe")).toEqual({ prompt: "@pipe" })
  })
})

describe("viewing an image", () => {
  it("shows the model its bytes under the type they have", async () => {
    for (const path of ["photo.png", "inner.png", join(root, "photo.png")]) {
      expect(await view(path)).toEqual([
        { type: "text", text: 'The image "photo.png":' },
        { type: "file", mediaType: "image/png", name: "photo.png", source: { data: PNG.toString("base64") } },
      ])
    }
  })

  it.each([
    ["../outside.png", "no file"],
    ["link.png", "no file"],
    ["missing.png", "no file"],
    ["a", "no file"],
    ["fake.png", "no PNG, JPEG, GIF or WebP image by its content"],
  ])("refuses %s", async (path, message) => {
    await expect(view(path)).rejects.toThrow(message)
  })

  it("refuses an image of more than 5 MiB", async () => {
    truncateSync(join(root, "photo.png"), 5 * 1024 * 1024 + 1)
    await expect(view("photo.png")).rejects.toMatchObject({ code: "limit_exceeded" })
  })
})

describe("for a model", () => {
  const enrichFor = async (prompt: string, context: Partial<EnrichmentContext>) =>
    (await createMultimodalPlugin({ root }).enrichPrompt?.(prompt, { session: null, ...context }))?.prompt

  it("that sees no pictures, says why a picture is not shown, and text is text", async () => {
    const model = { id: "lab/blind", modalities: ["text"] } as const
    const prompt = await enrichFor("@photo.png and @fake.png", { model, tools: ["readFile"] })
    expect(prompt).toContain('"photo.png": image/png, 16 bytes; it cannot be shown, because lab/blind takes no images')
    expect(prompt).toContain('"fake.png": text/plain, 9 bytes; read it with readFile')
  })

  it("that is offered neither tool, names neither", async () => {
    const model = { id: "lab/seeing", modalities: ["text", "image"] } as const
    const prompt = await enrichFor("@photo.png and @fake.png", { model, tools: [] })
    expect(prompt?.match(/no tool reads it/g)).toHaveLength(2)
  })
})

it("is for every model", () => {
  expect(createMultimodalPlugin({ root }).modelRequirements).toBeUndefined()
})

it("takes an absolute root only", () => {
  expect(() => createMultimodalPlugin({ root: "." })).toThrow(/absolute/)
})

it("is called where its file would be, by the path of the root or by the one that it leads to", () => {
  const link = join(root, "..", "link")
  symlinkSync(root, link)
  const isHere = (path: string) => createMultimodalPlugin({ root: link }).tools[0]?.isHere?.({ path })
  expect([join(link, "..a.png"), join(root, "photo.png"), join(root, "..", "outside.png")].map(isHere)).toEqual([
    true,
    true,
    false,
  ])
})
