import { findNearNames } from "../../base/near-name.ts"
import { toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { AgentRoster, KnownAgent } from "./agent-roster.ts"

/** Selects whose lines a person sees: those of all agents, or of one. */
export interface AgentSelection {
  shows(agent: KnownAgent): boolean
  showsMain(): boolean
  /** Undefined: all agents are shown. */
  selected(): KnownAgent | undefined
  agents(): readonly KnownAgent[]
  titleOf(agent: KnownAgent): string
  /** Goes from all agents to the main one, then to each of the others, and back to all. */
  next(): void
  /** Selects by `all`, `main`, a name or a number. Prints a refusal of anything else. */
  select(wanted: string): void
  /** Says that an agent has ended, if it is shown alone. */
  tellEnd(agent: KnownAgent): void
}

export interface AgentSelectionOptions {
  readonly screen: Screen
  readonly roster: AgentRoster
  /** The model that an agent goes on with, where it may have changed since the agent began. */
  readonly modelOf: (agent: KnownAgent["id"]) => string | undefined
  readonly onChange: () => void
}

export function createAgentSelection({ screen, roster, modelOf, onChange }: AgentSelectionOptions): AgentSelection {
  const { style } = screen
  // `main` is the agent that the person talks with, which is another one after `/resume`.
  let choice: "all" | "main" | KnownAgent = "all"

  const isMain = (agent: KnownAgent): boolean => roster.labelOf(agent) === ""
  const titleOf = (agent: KnownAgent): string => roster.labelOf(agent) || "main"
  const shows = (agent: KnownAgent): boolean =>
    choice === "all" || (choice === "main" ? isMain(agent) : choice === agent)
  const selected = (): KnownAgent | undefined =>
    choice === "main" ? roster.list().find(isMain) : choice === "all" ? undefined : choice

  function show(next: KnownAgent | undefined): void {
    screen.endLine()
    choice = next === undefined ? "all" : isMain(next) ? "main" : next
    const lines = next?.transcript.last(Math.floor(screen.rows / 2), screen.columns) ?? []
    screen.print([style.dim(`── ${next ? describe(next) : "all agents"} ──`), ...lines].join("\n"))
    // An unfinished line of an answer is continued.
    for (const agent of roster.list()) if (shows(agent)) screen.write(agent.transcript.rest())
    onChange()
  }

  function describe(agent: KnownAgent): string {
    const model = toLine(modelOf(agent.id) ?? agent.model)
    return [titleOf(agent), agent.status, model].filter((part) => part !== "").join(" · ")
  }

  function find(wanted: string): KnownAgent | undefined {
    const agents = roster.list()
    const name = wanted.toLowerCase()
    return (
      agents.find((agent) => titleOf(agent).toLowerCase() === name) ??
      agents.find(({ number }) => String(number) === wanted)
    )
  }

  return {
    shows,
    showsMain: () => roster.list().filter(isMain).every(shows),
    selected,
    agents: () => roster.list(),
    titleOf,
    next() {
      const agents = roster.list()
      const current = selected()
      const index = current ? agents.indexOf(current) : -1
      // After an agent that can no longer be chosen, all are shown.
      show(current && index < 0 ? undefined : agents[index + 1])
    },
    select(wanted) {
      if (!screen.isLive) return screen.print("Only a terminal can show one agent alone: here all are shown.")
      if (wanted.toLowerCase() === "all") return show(undefined)
      const agent = find(wanted)
      if (agent) return show(agent)
      const near = findNearNames(wanted, ["all", ...roster.list().map(titleOf)])
      const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "/agents lists all agents."
      screen.print(`There is no agent ${toLine(wanted)}. ${hint}`)
    },
    tellEnd(agent) {
      if (choice !== agent) return
      screen.print(style.dim(`── ${titleOf(agent)} has ended (${agent.status}) · F2: the next agent ──`))
    },
  }
}
