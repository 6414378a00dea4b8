/** A plugin in a package of its own, found by its name. In the program the configuration names it: `plugins: ["…"]`. */
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRuntime } from "meanwhile"
import { createPluginLoader } from "meanwhile/plugins"

/** Does what `npm install` would do in a folder that uses the package. */
const folder = await mkdtemp(join(tmpdir(), "uses-units-"))
const installed = join(folder, "node_modules")
await mkdir(installed)
await cp(join(import.meta.dirname, "packages/meanwhile-plugin-units"), join(installed, "meanwhile-plugin-units"), {
  recursive: true,
})
await symlink(join(import.meta.dirname, ".."), join(installed, "meanwhile"))
await symlink(join(import.meta.dirname, "../node_modules/zod"), join(installed, "zod"))

await using runtime = await createRuntime({
  model: "offline/rules",
  discovery: {
    entries: [{ source: "meanwhile-plugin-units", config: { decimals: 1 } }],
    load: createPluginLoader({ directory: folder }),
  },
})
const session = await runtime.createSession()

console.log(await session.runCommand("units"))
console.log((await session.send('call convert_length with {"value": 26.2, "from": "mile", "to": "km"}')).text)
console.log((await session.send("say I walked 3 miles")).text)
await rm(folder, { recursive: true })

/* Prints:
mm, cm, m, km, inch, foot, yard, mile
convert_length returned:

{"value":42.2,"unit":"km"}
I walked 3 miles (4.8 km)
*/
