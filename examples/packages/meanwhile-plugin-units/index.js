import { definePlugin, defineTool } from "meanwhile"
import { z } from "zod"

const METRES = { mm: 0.001, cm: 0.01, m: 1, km: 1000, inch: 0.0254, foot: 0.3048, yard: 0.9144, mile: 1609.344 }
const UNITS = Object.keys(METRES)

const configSchema = z.strictObject({ decimals: z.number().int().min(0).max(9).default(2) })

/**
 * Makes the plugin of `plugins: ["meanwhile-plugin-units"]`. `config` is the entry's `config` in the configuration.
 *
 * @param {unknown} config
 * @returns {import("meanwhile").ToolPlugin}
 */
export function createPlugin(config = {}) {
  const { decimals } = configSchema.parse(config)
  const convert = (value, from, to) => Number(((value * METRES[from]) / METRES[to]).toFixed(decimals))

  return definePlugin({
    kind: "tool",
    name: "units",
    systemInstructions: "Convert lengths with convert_length, never by heart.",
    tools: [
      defineTool({
        name: "convert_length",
        description: "Converts a length from one unit to another.",
        input: z.strictObject({ value: z.number(), from: z.enum(UNITS), to: z.enum(UNITS) }),
        title: ({ value, from, to }) => `convert ${value} ${from} to ${to}`,
        onCrash: "retry",
        run: async ({ value, from, to }) => ({ value: convert(value, from, to), unit: to }),
      }),
    ],
    autoApprovedTools: ["convert_length"],
    userCommands: [
      { name: "units", description: "Lists the units that can be converted.", run: () => UNITS.join(", ") },
    ],
    // The model reads the metric length beside what the person wrote.
    enrichPrompt: (prompt) => ({
      prompt: prompt.replace(/(\d+(?:\.\d+)?) miles?\b/g, (text, value) => `${text} (${convert(value, "mile", "km")} km)`),
    }),
  })
}
