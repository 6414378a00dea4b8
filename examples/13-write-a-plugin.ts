/** A plugin of your own: a tool that reports progress, a configuration, a hook that guards every call. */
import { setTimeout as sleep } from "node:timers/promises"
import { createRuntime, definePlugin, defineTool, isMeanwhileError } from "meanwhile"
import { backgroundCapable } from "meanwhile/plugins"
import { z } from "zod"

const resize = defineTool({
  name: "resize_images",
  description: "Resizes images.",
  input: z.object({ files: z.array(z.string()), width: z.number().int().positive() }),
  background: { mode: "after", ms: 100 },
  estimateMs: ({ files }) => files.length * 60,
  title: ({ files, width }) => `resize ${files.length} images to ${width}`,
  async run({ files, width }, { signal, progress, output }) {
    for (const [index, file] of files.entries()) {
      progress({ done: index, total: files.length, phase: "resizing" })
      await sleep(60, undefined, { signal })
      output.write(`${file} is ${width} wide\n`)
    }
    return { resized: files.length }
  },
})

const images = definePlugin({
  kind: "tool",
  name: "images",
  tools: [resize],
  initialize: (config) => console.log("initialized with", JSON.stringify(config)),
  shutdown: () => console.log("shut down"),
})

/** Sees the calls of all plugins. */
const guard = definePlugin({
  kind: "tool",
  name: "guard",
  tools: [],
  beforeToolCall: ({ tool, input }) =>
    tool === "resize_images" && JSON.stringify(input).includes("/etc/")
      ? { decision: "refuse", reason: "system files are left alone" }
      : { decision: "allow" },
})

{
  await using meanwhile = await createRuntime({ plugins: [guard] })
  const { tasks, plugins } = meanwhile
  await plugins.register(images, { config: { quality: 80 } })

  const [schema] = plugins.toolSchemas()
  console.log(schema?.description)

  try {
    await tasks.execute({ tool: "resize_images", input: { files: ["/etc/logo.png"], width: 9 } }).answer
  } catch (error) {
    if (isMeanwhileError(error)) console.log(`${error.code}: ${error.message}`)
  }

  const capable = backgroundCapable(images, tasks)
  const handle = await capable.startBackground("resize_images", { files: ["a.png", "b.png", "c.png"], width: 640 })
  console.log("expected to take", handle.estimatedDurationSeconds, "s")
  const { status, result } = await capable.getResult(handle.taskId, true)
  console.log(status, JSON.stringify(result))
  console.log((await tasks.output(handle.taskId)).text.trim())
}

/* Prints:
initialized with {"quality":80}
Resizes images. A call that takes longer than 100 ms goes on in the background as a task; its result comes back by itself.
permission_denied: resize_images was not allowed: system files are left alone
expected to take 0.18 s
completed {"resized":3}
a.png is 640 wide
b.png is 640 wide
c.png is 640 wide
shut down
*/
