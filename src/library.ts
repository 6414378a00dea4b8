import type { ConfigInput } from "./config-sections.ts"
import type { Runtime, RuntimeOptions } from "./runtime.ts"
import { type Client, createClientOf } from "./session/client.ts"

/** Loads the runtime and all it is made of at the first call: a module that only defines tools needs none of it. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const app = await import("./app.ts")
  return app.createRuntime(options)
}

/** The facade for the simple case. */
export function createClient(): Client<Runtime, RuntimeOptions> {
  return createClientOf<Runtime, RuntimeOptions>(createRuntime)
}

/** Returns what it is given: with it an editor knows every key of a configuration. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config
}
