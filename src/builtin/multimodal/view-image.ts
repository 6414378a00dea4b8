import { dirname, resolve } from "node:path"
import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { defineTool, type Tool, showModel } from "../../plugin/tool.ts"
import { toMediaType } from "./media-type.ts"
import { isRooted, readHead } from "./rooted-file.ts"

const MOST_BYTES = 5 * 1024 * 1024

/** Shows the model an image of the working root. */
export function createViewImage(root: string): Tool {
  return defineTool({
    name: "viewImage",
    background: { mode: "never" },
    shows: "image",
    description: "Shows you an image file: PNG, JPEG, GIF or WebP, at most 5 MiB, inside the working folder.",
    input: z.strictObject({ path: z.string().min(1).describe("The file, relative to the working folder.") }),
    title: ({ path }) => `view ${path.replaceAll(/\p{Cc}/gu, "")}`,
    effects: [],
    pin: ({ path }) => ({ path: resolve(root, path) }),
    isHere: ({ path }) => isRooted(root, path),
    folderOf: ({ path }) => dirname(path),
    onCrash: "retry",
    async run({ path }) {
      const image = await readHead(root, path, MOST_BYTES)
      if (!image) {
        const message = `There is no file ${JSON.stringify(path)} inside the working folder. Name one that is.`
        throw new MeanwhileError("invalid_input", message)
      }
      const { name } = image
      if (image.bytes > MOST_BYTES) {
        const message = `${name} has ${image.bytes} bytes, and at most ${MOST_BYTES} can be shown. Make it smaller first.`
        throw new MeanwhileError("limit_exceeded", message)
      }
      const { mediaType, reading } = toMediaType(name, image.head)
      if (reading !== "image") {
        const message = `${name} is no PNG, JPEG, GIF or WebP image by its content. Convert it first.`
        throw new MeanwhileError("invalid_input", message)
      }
      const data = Buffer.from(image.head).toString("base64")
      const file = { type: "file", mediaType, name, source: { data } } as const
      return showModel([{ type: "text", text: `The image ${JSON.stringify(name)}:` }, file], `showed ${name}`)
    },
  })
}
